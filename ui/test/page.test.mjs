// Pages in a real browser: PLIMSOLL_PAGES is a folder of pages that `plimsoll report FILE --html` made.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
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

/** Text of a server or a file that must stay text: markup, a terminal's escape, marks that turn text around, no place to break. */
const HOSTILE = "</script><img src=x onerror=\"window.hostile=1\"><b>&amp;\u001b[31m\u202eabc\u200f" + "x".repeat(200);
/** Names that the program writes and the page compares with; other strings may come from anywhere. */
const NAMES = new Set(["schema", "kind", "limit", "class", "resource", "unit", "command", "confidence", "outcome", "onset", "law", "id", "doubt", "shown_in"]);
/** Maps whose keys come from a run. */
const MAPS = new Set(["tags", "failed"]);

function hostile(value, name) {
  if (typeof value === "string") return NAMES.has(name) ? value : HOSTILE + value;
  if (Array.isArray(value)) return value.map((one) => hostile(one, name));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [MAPS.has(name) ? HOSTILE + key : key, hostile(one, key)]));
}

/** The same page with hostile text in every field of its document. */
function withHostileText(file) {
  const begin = '<script type="application/json" id="plimsoll">';
  const page = readFileSync(file, "utf8");
  const at = page.indexOf(begin) + begin.length;
  const end = page.indexOf("</script>", at);
  const json = JSON.stringify(hostile(JSON.parse(page.slice(at, end)), "")).replaceAll("<", "\\u003c");
  return page.slice(0, at) + json + page.slice(end);
}

for (const file of pages) {
  test(`${path.basename(file)} with hostile text in every field`, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "plimsoll-hostile-"));
    const changed = path.join(folder, "page.html");
    writeFileSync(changed, withHostileText(file));
    const { context, page, errors } = await opened(changed, 375, "light");
    await scrolled(page);
    await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
    const found = await page.evaluate(() => ({
      markup: document.querySelectorAll("#page img, #page b b").length, ran: "hostile" in window,
      marks: /[\u001b\u200f\u202e]/.test(document.getElementById("page").textContent), shown: document.body.textContent.includes("onerror"),
      overflow: document.documentElement.scrollWidth - window.innerWidth,
    }));
    assert.deepEqual([errors, found.markup, found.ran, found.marks, found.shown], [[], 0, false, false, true]);
    assert.ok(found.overflow <= 0, `the page is ${found.overflow} px wider than the window`);
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });
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
        const lost = await page.evaluate(() => [...document.querySelectorAll("#evidence td a")].map((link) => link.getAttribute("href"))
          .filter((to) => document.querySelector(to) === null));
        assert.deepEqual(lost, [], "the evidence is linked with what shows it");
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200)]), []);
        await context.close();
      });
    }
  }
  test(`${path.basename(file)} by keyboard`, async () => {
    const { context, page, errors } = await opened(file, 1024, "light");
    await scrolled(page);
    const chart = page.locator("#time .plot").first();
    if (await chart.count() > 0) {
      const shown = page.locator("#time .range");
      const [whole, none] = [await shown.textContent(), await chart.getAttribute("aria-valuetext")];
      await chart.focus();
      await page.keyboard.press("ArrowRight");
      const first = await chart.getAttribute("aria-valuetext");
      assert.ok(first !== none && first.includes(": "), "the values at the cursor are announced");
      assert.equal(await page.locator("#time .legend .at").first().textContent(), `at ${first.split(": ")[0]}`);
      await page.keyboard.press("+");
      assert.notEqual(await shown.textContent(), whole);
      await page.keyboard.press("0");
      assert.equal(await shown.textContent(), whole);
    }
    assert.deepEqual(errors, []);
    await context.close();
  });
  test(`${path.basename(file)} in print`, async () => {
    const { context, page, errors } = await opened(file, 1024, "light");
    await page.pdf();
    const undrawn = await page.evaluate(() =>
      [...document.querySelectorAll('figure[data-chart]:not([data-drawn="true"])')].map((chart) => chart.dataset.chart));
    assert.deepEqual([errors, undrawn], [[], []]);
    await context.close();
  });
}
