// Flame graphs in a real browser, on the page of a comparison: PLIMSOLL_PAGES has diff.html.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { withFlames } from "./flames.mjs";
import { documentOf, launched, opened, pages, scrolled, withDocument } from "./pages.mjs";

const compared = pages.find((file) => path.basename(file) === "diff.html");
const skip = compared ? false : "there is no diff.html in PLIMSOLL_PAGES";
const folder = mkdtempSync(path.join(tmpdir(), "plimsoll-flames-"));
const file = path.join(folder, "diff.html");
let browser;

before(async () => {
  if (skip) return;
  writeFileSync(file, withDocument(compared, withFlames(documentOf(compared))));
  browser = await launched();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("flame graphs are printed, with their colours", { skip }, async () => {
  const { context, page, errors } = await opened(browser, file, 1024, "light");
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction(() => [...document.querySelectorAll("figure[data-chart]")].every((chart) => chart.dataset.drawn === "true"));
  const boxes = await page.evaluate(() => [...document.querySelectorAll(".flame")].map((flame) => [...flame.querySelectorAll("button")]
    .filter((box) => box.checkVisibility() && box.getBoundingClientRect().width > 0 && getComputedStyle(box).getPropertyValue("print-color-adjust") === "exact").length));
  assert.deepEqual(boxes.sort(), [5, 5, 6], "visible boxes of both runs and of their difference");
  assert.equal(await page.locator(".flame-tools").first().isVisible(), false);
  assert.deepEqual(errors, []);
  await context.close();
});
