// Pages in a real browser: PLIMSOLL_PAGES is a folder of pages that `plimsoll report FILE --html` made.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.PLIMSOLL_PAGES;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pages = folder ? readdirSync(folder).filter((name) => name.endsWith(".html")).map((name) => path.resolve(folder, name)) : [];
let browser;

before(async () => {
  if (pages.length > 0) browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
after(async () => browser?.close());

async function opened(file, width, colorScheme) {
  // Scripts of a test are refused by the page's own policy, as those of anybody else.
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  return { context, page, errors };
}

/** Charts are drawn when they come into view. */
async function scrolled(page) {
  await page.evaluate(async () => {
    for (const chart of document.querySelectorAll("figure[data-chart]")) {
      chart.scrollIntoView();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
  });
  await page.waitForFunction(() => [...document.querySelectorAll("figure[data-chart]")].every((chart) => chart.dataset.drawn === "true"));
}

test("PLIMSOLL_PAGES names a folder of pages", { skip: folder ? false : "PLIMSOLL_PAGES is not set" }, () => {
  assert.ok(pages.length > 0);
});

for (const file of pages) {
  for (const width of [375, 768, 1440]) {
    for (const scheme of ["light", "dark"]) {
      test(`${path.basename(file)} at ${width} px, ${scheme}`, async () => {
        const { context, page, errors } = await opened(file, width, scheme);
        await scrolled(page);
        assert.deepEqual(errors, []);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
        // The rows of a table are made when it is opened.
        await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
        await page.waitForFunction(() => [...document.querySelectorAll("table[data-rows]")]
          .every((table) => table.tBodies[0].rows.length === Number(table.dataset.rows)));
        const bare = await page.evaluate(() =>
          [...document.querySelectorAll("figure[data-chart]")]
            .filter((chart) => !chart.querySelector("figcaption")?.textContent || chart.querySelectorAll("table tbody tr").length === 0)
            .map((chart) => chart.dataset.chart));
        assert.deepEqual(bare, [], "a chart has a sentence and a table");
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200)]), []);
        await context.close();
      });
    }
  }
  test(`${path.basename(file)} in print`, async () => {
    const { context, page, errors } = await opened(file, 1024, "light");
    await page.pdf();
    const undrawn = await page.evaluate(() =>
      [...document.querySelectorAll('figure[data-chart]:not([data-drawn="true"])')].map((chart) => chart.dataset.chart));
    assert.deepEqual([errors, undrawn], [[], []]);
    await context.close();
  });
}
