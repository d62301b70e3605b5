// Flame graphs in a real browser, on the page of a comparison: PLIMSOLL_PAGES has diff.html.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { withFlames } from "./flames.mjs";
import { documentOf, launched, opened, overflow, pages, press, scrolled, serious, withDocument } from "./pages.mjs";

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

/** The names of the boxes of a graph, and how wide each is in px. */
const boxesOf = (page, name) => page.locator(`#chart-diff-cpu-${name} .flame button`).evaluateAll((all) =>
  Object.fromEntries(all.map((box) => [box.textContent, box.getBoundingClientRect().width])));

async function comparison(width) {
  const found = await opened(browser, file, width, "light");
  await scrolled(found.page);
  return found;
}

test("flame graphs are side by side where there is room, at one scale, with the difference below", { skip }, async () => {
  for (const [width, beside] of [[1440, true], [1100, true], [768, false], [375, false]]) {
    const { context, page, errors } = await comparison(width);
    const [old, changed, difference] = await Promise.all(["other", "one", "difference"].map((name) =>
      page.locator(`#chart-diff-cpu-${name} .flame`).boundingBox()));
    assert.equal(old.x + old.width <= changed.x && old.y === changed.y, beside, `at ${width} px`);
    assert.ok(difference.y > Math.max(old.y, changed.y) && difference.width >= old.width);
    assert.equal(await overflow(page), 0);
    const [before, now] = [await boxesOf(page, "other"), await boxesOf(page, "one")];
    // 100 µs and 80 µs a request.
    assert.ok(Math.abs(now.main / before.main - 0.8) < 0.01, `${now.main} and ${before.main} px`);
    assert.deepEqual(await serious(page), []);
    assert.deepEqual(errors, []);
    await context.close();
  }
});

test("one search and one zoom are for all flame graphs of a comparison", { skip }, async () => {
  const { context, page, errors } = await comparison(1440);
  assert.equal(await page.locator(".flames input[type=search]").count(), 1);
  await page.getByLabel("Find a function").fill("COPY");
  for (const name of ["one", "other", "difference"]) assert.deepEqual(await page.locator(`#chart-diff-cpu-${name} .found`).allTextContents(), ["copy"]);
  await press(page.locator("#chart-diff-cpu-one .flame button", { hasText: "parse" }));
  assert.deepEqual(Object.keys(await boxesOf(page, "other")), ["main", "serve", "parse", "copy"], "the sibling is out of view");
  assert.deepEqual(Object.keys(await boxesOf(page, "difference")), ["main", "serve", "parse", "copy", "check"]);
  assert.equal(await page.locator("#chart-diff-cpu-one .flame button:focus").textContent(), "parse");
  // 60 µs fill the width, and 40 µs two thirds of it.
  const [before, now] = [await boxesOf(page, "other"), await boxesOf(page, "one")];
  assert.ok(Math.abs(before.parse / now.parse - 2 / 3) < 0.01, `${before.parse} and ${now.parse} px`);
  await page.keyboard.press("Escape");
  assert.equal(Object.keys(await boxesOf(page, "other")).length, 6);
  // The new run lacks this box: the box around it is shown instead.
  await press(page.locator("#chart-diff-cpu-other .flame button", { hasText: "format" }));
  assert.deepEqual(Object.keys(await boxesOf(page, "one")), ["main", "serve", "parse", "copy", "check"]);
  const [format, serve] = [(await boxesOf(page, "other")).format, (await boxesOf(page, "one")).serve];
  assert.ok(Math.abs(format / serve - 1) < 0.01, "each fills its own width");
  await page.locator("#chart-diff-cpu-one").getByText("No sample of format under these callers; serve is shown.").waitFor();
  await press(page.getByRole("button", { name: "Show all" }));
  assert.equal(Object.keys(await boxesOf(page, "difference")).length, 5);
  assert.deepEqual(errors, []);
  await context.close();
});

test("functions that the new run has no sample of are listed", { skip }, async () => {
  const { context, page } = await comparison(768);
  const gone = page.locator(".gone");
  assert.match((await gone.locator("p").textContent()).replaceAll("\u00a0", " "), /^2 functions of .* have no sample in .*, so the difference has no box for them\. They took 30\.0 µs of a request themselves, most of it format with 25\.0 µs\.$/);
  await press(gone.locator("summary"));
  const rows = await gone.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows, [["format", "25.0 µs", "25.0 µs"], ["log", "30.0 µs", "5.00 µs"]]);
  await context.close();
});
