// What a page says of its evidence: PLIMSOLL_PAGES is a folder of pages that `plimsoll report FILE --html` made.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { documentOf, launched, opened, openedChanged, pages, press, said, skip } from "./pages.mjs";

let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

/** Opens a page, and each of its runs in turn. */
async function eachRun(file, look) {
  const { context, page, errors } = await opened(browser, file, 1024, "light");
  for (const [index, run] of documentOf(file).runs.entries()) {
    const tab = page.locator("#runs > button").nth(index);
    if (await tab.count() > 0) {
      await press(tab);
      await page.locator(`#runs > button:nth-child(${index + 1})[aria-current=true]`).waitFor();
    }
    await look(page, run);
  }
  assert.deepEqual(errors, []);
  await context.close();
}

test("PLIMSOLL_PAGES names a folder of pages with evidence", { skip }, () => {
  assert.ok(pages.some((file) => documentOf(file).runs.some((run) => run.document.verdict.evidence.length > 0)));
});

/** The figure of the answer, such as `≥ 5,007`. */
const headline = (page) => page.evaluate(() => document.querySelector("#answer .headline")?.textContent ?? "");

async function isBounded(page, { headline: { bound, per_sec: perSec }, document: { steps } }) {
  const shown = await headline(page);
  assert.equal(shown.startsWith("≥ "), perSec !== null && bound === "generator_limited", shown);
  assert.equal(shown.startsWith("At least "), perSec !== null && bound === "unfinished", shown);
  const rows = await page.locator("#steps > .scroll tbody tr td:nth-child(2)").allTextContents();
  assert.deepEqual(rows.map((cell) => cell.startsWith("≥ ")), steps.map((step) => step.lower_bound && step.throughput_per_sec !== null), "steps");
}

async function marksTheLimit(page, { document: { tiers } }) {
  const marked = await page.evaluate(() => [...document.querySelectorAll("#chart-topology table tbody tr")].map((row) => row.className === "marked"));
  if (marked.length > 0 && tiers.length > 0) assert.deepEqual(marked.slice(1), tiers.map((tier) => tier.is_limit), "boxes that are marked");
}

async function linksEvidence(page, { document: { verdict }, timeline: { curves, resources } }) {
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
  verdict.evidence.forEach((one, index) => {
    const has = one.series.some(({ host, kind, of }) => [...resources, ...curves].some((series) =>
      series.host === host && (series.resource ?? series.kind) === kind && (of === null || series.of === of)));
    const { series, place, values } = links[index];
    assert.equal(series !== null, has, `${one.what}: ${place}`);
    if (has) assert.ok(values > 0, `${one.what}: ${place} has no value of ${series}`);
    if (one.shown_in === "curves" && !has) assert.equal(place, null, one.what);
  });
}

async function drawsStalls(page, { timeline: { curves, hosts_at_sec: at } }) {
  const charts = await page.evaluate(() => [...document.querySelectorAll('#time figure[data-chart^="stalls-"]')]
    .map((figure) => figure.querySelectorAll("thead th").length - 1));
  const drawn = curves.filter((one) => one.unit === "ratio" && one.kind !== "heap");
  assert.equal(charts.reduce((sum, columns) => sum + columns, 0), at.length === 0 ? 0 : drawn.length, "columns of stalls");
  assert.ok(drawn.every((one) => one.values.length === at.length && one.values.some((value) => value > 0)), "stalls are on the axis of the load");
}

for (const file of pages) {
  test(`${path.basename(file)}: figure of the answer, boxes, evidence and stalls are those of the document, run by run`, async () => {
    await eachRun(file, async (page, run) => {
      await isBounded(page, run);
      await marksTheLimit(page, run);
      await linksEvidence(page, run);
      await drawsStalls(page, run);
    });
  });
}

/** A page of one run. */
const single = pages.find((file) => path.basename(file) === "sweep.html");

test("a verdict that its proof withdrew is called withdrawn, and the proof has units", { skip: single ? false : "there is no sweep.html in PLIMSOLL_PAGES" }, async () => {
  const proof = {
    outcome: "withdrawn", host: "web", cap: "cores", unit: "cores_milli", before: 500, after: 750, connections: 4, before_per_sec: 1000,
    after_per_sec: 1001, ratio: 1.001, ratio_interval: [0.99, 1.01], predicted_ratio: 1.5,
  };
  const { context, page, errors } = await openedChanged(browser, single, ({ runs: [{ document: run }] }) => {
    Object.assign(run.verdict, { limit: "quota", where: "web", confidence: "inferred", proof });
  });
  assert.match(await said(page.locator("#answer .verdict .note")), /^ withdrawn: /);
  assert.match(await said(page.locator("#chart-topology figcaption")), /\(withdrawn\)\.$/);
  const evidence = await said(page.locator("#evidence"));
  assert.match(evidence, /Confidence: withdrawn \(/);
  assert.match(evidence, /raised from 0\.500 cores to 0\.750 cores: throughput went/);
  assert.deepEqual(errors, []);
  await context.close();
});
