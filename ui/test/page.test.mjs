// Pages in a real browser: PLIMSOLL_PAGES is a folder of pages that `plimsoll report FILE --html` made.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { HARMLESS, harm, hostile } from "./hostile.mjs";
import { documentOf, launched, opened, overflow, pages, press, scrolled, serious, skip, unfolded, withDocument } from "./pages.mjs";
import { blank } from "./values.mjs";

/** The largest page without its document, in bytes. */
const MAX_PAGE = 400_000;
/** The most drawings that a page keeps, unless more are in view. */
const HELD = 12;
/** A page is opened at the first width, and its window resized to the others. */
const WIDTHS = { light: [375, 768, 1440], dark: [1440, 768, 375] };
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

test("PLIMSOLL_PAGES names a folder of pages", { skip }, () => {
  assert.ok(pages.length > 0);
});

test("the page without a document is small", () => {
  const { size } = statSync(new URL("../../crates/report/page/index.html", import.meta.url));
  assert.ok(size <= MAX_PAGE, `the page has ${size} bytes`);
});

/** The page whose first run has the most series of hosts. */
const fullest = [...pages].sort((one, other) => seriesOf(other) - seriesOf(one))[0];
function seriesOf(file) {
  const timeline = documentOf(file).runs[0]?.timeline;
  return timeline === undefined ? 0 : timeline.resources.length + timeline.curves.length;
}

test("a page holds few of many drawings, and draws again what comes into view", { skip }, async () => {
  const { context, page, errors } = await opened(browser, fullest, 1024, "light");
  const tab = page.locator("#runs > button").first();
  if (await tab.count() > 0) await press(tab);
  await scrolled(page);
  const first = page.locator(".plot").first();
  await first.scrollIntoViewIfNeeded();
  await first.locator("canvas").waitFor();
  await first.press("Home");
  const read = await first.getAttribute("aria-valuetext");
  assert.match(read, /\d/, "a sample is read");
  await first.evaluate((plot) => plot.blur());
  const fewAreHeld = () => page.waitForFunction((most) => {
    const inView = [...document.querySelectorAll(".plot")].filter((plot) => {
      const { top, bottom } = plot.getBoundingClientRect();
      return bottom > -300 && top < innerHeight + 300;
    });
    return document.querySelectorAll("canvas").length <= Math.max(most, inView.length);
  }, HELD);
  await scrolled(page);
  const all = await page.locator(".plot").count();
  assert.ok(all > HELD, `${fullest} has too few charts for this test`);
  await fewAreHeld();
  assert.equal(await first.locator("canvas").count(), 0, "the first chart rests");
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction((plots) => document.querySelectorAll("canvas").length === plots, all);
  await page.emulateMedia({ media: "screen" });
  await fewAreHeld();
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await first.scrollIntoViewIfNeeded();
  await first.locator("canvas").waitFor();
  assert.equal(await first.getAttribute("aria-valuetext"), read, "what was read is read again");
  assert.deepEqual(await blank(page), [], "charts that rested have the colours of the theme");
  assert.deepEqual(errors, []);
  await context.close();
});

/** What a chart on paper lacks: something visible, and backgrounds where they are the data. */
const lacking = (page) => page.evaluate(() => {
  const visible = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 0 && one.getBoundingClientRect().height > 0;
  const painted = "canvas, svg, .bars .track, .forest .dot, .flame button";
  const blank = [...document.querySelectorAll("figure[data-chart] .drawing")].filter((drawing) => ![...drawing.querySelectorAll(painted)].some(visible));
  const pale = [...document.querySelectorAll(".bars .fill, .forest .dot, .forest .span, .flame button")]
    .filter((one) => getComputedStyle(one).getPropertyValue("print-color-adjust") !== "exact");
  return [...blank, ...pale].map((one) => one.closest("figure")?.dataset.chart);
});

for (const file of pages) {
  test(`${path.basename(file)} with hostile text in every field`, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "plimsoll-hostile-"));
    const changed = path.join(folder, "page.html");
    writeFileSync(changed, withDocument(file, hostile(documentOf(file))));
    const { context, page, errors } = await opened(browser, changed, 375, "light");
    await scrolled(page);
    await unfolded(page);
    assert.deepEqual([errors, await harm(page)], [[], HARMLESS]);
    assert.equal(await overflow(page), 0, "px by which the page is wider than the window");
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [scheme, widths] of Object.entries(WIDTHS)) {
    test(`${path.basename(file)} at ${widths.join(", ")} px, ${scheme}`, async () => {
      const { context, page, errors } = await opened(browser, file, widths[0], scheme);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await scrolled(page);
        assert.equal(await overflow(page), 0, `px by which the page is wider than a window of ${width} px`);
        await unfolded(page);
        assert.equal(await overflow(page), 0, `px by which the page, unfolded, is wider than a window of ${width} px`);
        assert.deepEqual(await blank(page), [], `canvases that are blank at ${width} px`);
      }
      const bare = await page.evaluate(() =>
        [...document.querySelectorAll("figure[data-chart]")]
          .filter((chart) => !chart.querySelector("figcaption")?.textContent || chart.querySelectorAll("table tbody tr").length === 0)
          .map((chart) => chart.dataset.chart));
      assert.deepEqual(bare, [], "a chart has a sentence and a table");
      const lost = await page.evaluate(() => [...document.querySelectorAll("#evidence td a")].map((link) => link.getAttribute("href"))
        .filter((to) => document.querySelector(to) === null));
      assert.deepEqual(lost, [], "the evidence is linked with what shows it");
      assert.deepEqual(await serious(page), []);
      assert.deepEqual(errors, []);
      await context.close();
    });
  }
  test(`${path.basename(file)} by keyboard`, async () => {
    const { context, page, errors } = await opened(browser, file, 1024, "light");
    await scrolled(page);
    const chart = page.locator("#time .plot").first();
    if (await chart.count() > 0) {
      const shown = page.locator("#time .range");
      const [whole, none] = [await shown.textContent(), await chart.getAttribute("aria-valuetext")];
      await chart.focus();
      // A chart has its canvas again a frame after it has come into view.
      await chart.locator("canvas").first().waitFor({ state: "attached" });
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
    const { context, page, errors } = await opened(browser, file, 1024, "light");
    await page.pdf();
    const undrawn = await page.evaluate(() =>
      [...document.querySelectorAll('figure[data-chart]:not([data-drawn="true"])')].map((chart) => chart.dataset.chart));
    assert.deepEqual([errors, undrawn], [[], []]);
    await page.emulateMedia({ media: "print" });
    // The page learns of the print view with the next frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.deepEqual(await lacking(page), [], "charts of which paper shows nothing");
    await unfolded(page);
    const cut = await page.evaluate(() => [...document.querySelectorAll("pre")]
      .filter((text) => text.checkVisibility() && (text.scrollHeight > text.clientHeight || text.scrollWidth > text.clientWidth))
      .map((text) => text.textContent.slice(0, 40)));
    assert.deepEqual(cut, [], "texts that paper cuts");
    await context.close();
  });
}
