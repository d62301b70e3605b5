// What a page says of its evidence: PLIMSOLL_PAGES is a folder of pages that `plimsoll report FILE --html` made.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.PLIMSOLL_PAGES;
const pages = folder ? readdirSync(folder).filter((name) => name.endsWith(".html")).map((name) => path.resolve(folder, name)) : [];
let browser;

before(async () => {
  if (pages.length > 0) browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => browser?.close());

/** The document of a page, as it stands in it. */
const documentOf = (page) => page.evaluate(() => JSON.parse(document.getElementById("plimsoll").textContent));

/** Opens a page, and each of its runs in turn. */
async function eachRun(file, look) {
  const page = await (await browser.newContext({ viewport: { width: 1024, height: 900 }, bypassCSP: true })).newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const { runs } = await documentOf(page);
  for (const [index, run] of runs.entries()) {
    const tabs = page.locator("#runs > button");
    if (await tabs.count() > 0) await tabs.nth(index).click();
    await look(page, run);
  }
  await page.context().close();
}

/** The figure of the answer, such as `≥ 5,007`. */
const headline = (page) => page.evaluate(() => document.querySelector("#answer .headline")?.textContent ?? "");

for (const file of pages) {
  test(`${path.basename(file)}: the figure of the answer is bounded as the text is`, async () => {
    await eachRun(file, async (page, run) => {
      const { bound, per_sec: perSec } = run.headline;
      const shown = await headline(page);
      assert.equal(shown.startsWith("≥ "), perSec !== null && bound === "generator_limited", shown);
      assert.equal(shown.startsWith("At least "), perSec !== null && bound === "unfinished", shown);
    });
  });

  test(`${path.basename(file)}: the boxes that are marked are those of the limit`, async () => {
    await eachRun(file, async (page, run) => {
      const marked = await page.evaluate(() => [...document.querySelectorAll("#chart-topology table tbody tr")].map((row) => row.className === "marked"));
      const { tiers } = run.document;
      if (marked.length > 0 && tiers.length > 0) assert.deepEqual(marked.slice(1), tiers.map((tier) => tier.is_limit));
    });
  });

  test(`${path.basename(file)}: evidence is linked with a chart that has a series of it`, async () => {
    await eachRun(file, async (page, run) => {
      await page.evaluate(() => document.querySelectorAll("#time details.data").forEach((fold) => { fold.open = true; }));
      await page.waitForFunction(() => [...document.querySelectorAll("#time table[data-rows]")]
        .every((table) => table.tBodies[0].rows.length === Number(table.dataset.rows)));
      const links = await page.evaluate(() => [...document.querySelectorAll("#evidence tbody tr")].map((row) => {
        const link = row.querySelector("td a");
        const series = link?.dataset.series ?? null;
        const figure = link === null ? null : document.querySelector(link.getAttribute("href"));
        const at = [...figure?.querySelectorAll("thead th") ?? []].findIndex((head) => head.textContent === series);
        const values = at < 0 ? [] : [...figure.querySelectorAll("tbody tr")].map((one) => one.cells[at].textContent);
        return { series, place: link?.getAttribute("href") ?? null, values: values.filter((value) => value !== "not known").length };
      }));
      const { curves, resources } = run.timeline;
      run.document.verdict.evidence.forEach((one, index) => {
        const has = one.series.some(({ host, kind, of }) => [...resources, ...curves].some((series) =>
          series.host === host && (series.resource ?? series.kind) === kind && (of === null || series.of === of)));
        const { series, place, values } = links[index];
        assert.equal(series !== null, has, `${one.what}: ${place}`);
        if (has) assert.ok(values > 0, `${one.what}: ${place} has no value of ${series}`);
        if (one.shown_in === "curves" && !has) assert.equal(place, null, one.what);
      });
    });
  });

  test(`${path.basename(file)}: what is sampled of GC and stalls is on the axis of the load`, async () => {
    await eachRun(file, async (page, run) => {
      const charts = await page.evaluate(() => [...document.querySelectorAll('#time figure[data-chart^="stalls-"]')]
        .map((figure) => figure.querySelectorAll("thead th").length - 1));
      const { curves, hosts_at_sec: at } = run.timeline;
      const drawn = curves.filter((one) => one.unit === "ratio" && one.kind !== "heap");
      assert.equal(charts.reduce((sum, columns) => sum + columns, 0), at.length === 0 ? 0 : drawn.length);
      assert.ok(drawn.every((one) => one.values.length === at.length && one.values.some((value) => value > 0)));
    });
  });
}
