// A page that gets many documents of a run that goes on, in a real browser: PLIMSOLL_PAGES is a folder of pages.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { documentOf, launched, opened, openedChanged, pages, press, scrolled } from "./pages.mjs";

/** Pages of one run with charts over time. */
const alone = pages.filter((file) => {
  const { runs, together } = documentOf(file);
  return runs.length === 1 && together === null && runs[0].timeline.at_sec.length > 2;
});
const skip = alone.length > 0 ? false : "PLIMSOLL_PAGES has no page of one run";
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

/** A page that counts listeners of the window and of the document, and what observers watch. */
async function counting(file) {
  const found = await opened(browser, file, 1000, "light", () => {
    const held = new Map();
    window.held = (what) => held.get(what)?.size ?? 0;
    const of = (what) => held.get(what) ?? held.set(what, new Map()).get(what);
    for (const target of [window, document]) {
      const { addEventListener, removeEventListener } = target;
      target.addEventListener = (type, listener, ...more) => {
        of("listener").set(listener, type);
        addEventListener.call(target, type, listener, ...more);
      };
      target.removeEventListener = (type, listener, ...more) => {
        of("listener").delete(listener);
        removeEventListener.call(target, type, listener, ...more);
      };
    }
    for (const kind of [ResizeObserver, IntersectionObserver]) {
      const { observe, unobserve } = kind.prototype;
      kind.prototype.observe = function (element, ...more) {
        of(kind.name).set(element, true);
        observe.call(this, element, ...more);
      };
      kind.prototype.unobserve = function (element) {
        of(kind.name).delete(element);
        unobserve.call(this, element);
      };
    }
  });
  await scrolled(found.page);
  return found;
}

/** Sends the page documents of a run that grows; the last one is the whole run. Every third has no hosts, so its charts differ. */
const updated = (page, file, times) => page.evaluate(({ document: whole, times }) => {
  const [run] = whole.runs;
  for (let time = 1; time <= times; time += 1) {
    const windows = Math.ceil((run.timeline.at_sec.length * time) / times);
    const timeline = { ...run.timeline };
    for (const [name, values] of Object.entries(timeline)) {
      if (Array.isArray(values) && values.length === run.timeline.at_sec.length && name !== "latency_bounds_ms") timeline[name] = values.slice(0, windows);
    }
    if (time % 3 === 0 && time < times) Object.assign(timeline, { resources: [], curves: [], hosts_at_sec: [] });
    const detail = { ...whole, runs: [{ ...run, timeline: time === times ? run.timeline : timeline }] };
    document.dispatchEvent(new CustomEvent("plimsoll:document", { detail }));
  }
}, { document: documentOf(file), times });

const counts = (page) => page.evaluate(() => ({
  figures: document.documentElement.dataset.figures, plots: document.documentElement.dataset.plots, links: document.documentElement.dataset.listeners,
  shown: document.querySelectorAll('figure[data-drawn="true"]').length, canvases: document.querySelectorAll("canvas").length,
  listeners: window.held("listener"), sizes: window.held("ResizeObserver"), nearby: window.held("IntersectionObserver"),
}));

for (const file of alone) {
  test(`${path.basename(file)} holds no more after many documents`, { skip }, async () => {
    const { context, page, errors } = await counting(file);
    const first = await counts(page);
    assert.equal(Number(first.figures), first.shown, "every figure that is drawn is counted");
    await updated(page, file, 4);
    await scrolled(page);
    const few = await counts(page);
    await updated(page, file, 40);
    await scrolled(page);
    assert.deepEqual([errors, await counts(page)], [[], few]);
    assert.deepEqual(few, first, "the same document has the same charts");
    await context.close();
  });
}

test("the position at which a chart is read stays when a document comes", { skip }, async () => {
  const [file] = alone;
  const { context, page, errors } = await counting(file);
  for (const name of ["time-throughput", "ladder-throughput"]) {
    const chart = page.locator(`#chart-${name} .plot`);
    if (await chart.count() === 0) continue;
    await chart.focus();
    for (let key = 0; key < 2; key += 1) await page.keyboard.press("ArrowRight");
    const read = await chart.getAttribute("aria-valuetext");
    await updated(page, file, 1);
    assert.equal(await chart.getAttribute("aria-valuetext"), read);
    assert.equal(await chart.evaluate((plot) => plot === document.activeElement), true, "it keeps the focus");
    const before = Number(await chart.getAttribute("aria-valuenow"));
    await page.keyboard.press("ArrowRight");
    assert.equal(Number(await chart.getAttribute("aria-valuenow")), before + 1, "reading goes on from there");
  }
  assert.deepEqual(errors, []);
  await context.close();
});

/** A page of one run that has resources over time. */
const hosted = alone.find((file) => documentOf(file).runs[0].timeline.hosts_at_sec.length > 2);

test("a line that is hidden stays hidden when a document has the lines in another order", { skip: hosted ? false : "PLIMSOLL_PAGES has no page of one run with hosts" }, async () => {
  const { context, page, errors } = await counting(hosted);
  const lines = () => page.evaluate(() => [...document.querySelectorAll("#chart-processes-0 .legend button")]
    .map((button) => `${button.textContent} ${button.getAttribute("aria-pressed")}`));
  // The chart has the line with the highest mean first.
  const processes = (one, other) => page.evaluate(({ document: whole, means }) => {
    const [run] = whole.runs;
    const [host] = new Set([...run.timeline.resources, ...run.timeline.curves].map((series) => series.host));
    const verdict = { ...run.document.verdict, limit: "unknown", place: { ...run.document.verdict.place, host } };
    const curves = means.map(([of, value]) => ({ host, kind: "process_cpu", of, unit: "cores", values: run.timeline.hosts_at_sec.map(() => value) }));
    const detail = { ...whole, runs: [{ ...run, document: { ...run.document, verdict }, timeline: { ...run.timeline, curves } }] };
    document.dispatchEvent(new CustomEvent("plimsoll:document", { detail }));
  }, { document: documentOf(hosted), means: [["one", one], ["other", other]] });
  await processes(2, 1);
  await scrolled(page);
  const [first, second] = (await lines()).map((line) => line.replace(/ true$/, ""));
  await press(page.locator("#chart-processes-0 .legend button").first());
  assert.deepEqual(await lines(), [`${first} false`, `${second} true`]);
  await processes(1, 2);
  assert.deepEqual(await lines(), [`${second} true`, `${first} false`]);
  const plot = page.locator("#chart-processes-0 .plot");
  await plot.focus();
  await page.keyboard.press("Home");
  const said = await plot.getAttribute("aria-valuetext");
  assert.ok(said.includes(second) && !said.includes(first), said);
  assert.deepEqual(errors, []);
  await context.close();
});

/** Gives a page a document whose only curve is the CPU of a process, with these values and at these instants. */
const withCurve = (page, file, values) => page.evaluate(({ document: whole, values }) => {
  const [run] = whole.runs;
  const [host] = new Set([...run.timeline.resources, ...run.timeline.curves].map((series) => series.host));
  const verdict = { ...run.document.verdict, limit: "unknown", place: { ...run.document.verdict.place, host } };
  const ends = run.timeline.steps.map((step) => step.drained_sec ?? step.ended_sec ?? 0);
  const length = Math.max(...ends) / values.length;
  const timeline = {
    ...run.timeline, host_window_sec: length, hosts_at_sec: values.map((_, index) => index * length), resources: [],
    curves: [{ host, kind: "process_cpu", of: "one", unit: "cores", values }],
  };
  const detail = { ...whole, runs: [{ ...run, document: { ...run.document, verdict }, timeline }] };
  document.dispatchEvent(new CustomEvent("plimsoll:document", { detail }));
}, { document: documentOf(file), values });

/** The longest gap in the colour of the first line of a chart, as a part of the width between the first and the last column with it. */
const longestGap = (page, name) => page.evaluate((name) => {
  const figure = document.querySelector(`#chart-${name}`);
  const canvas = figure.querySelector("canvas");
  const colour = getComputedStyle(figure.querySelector(".legend .swatch")).borderTopColor.match(/[\d.]+/g).slice(0, 3).map(Number);
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const columns = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 200 && colour.every((value, part) => Math.abs(value - data[at + part]) < 24)) columns.add((at / 4) % width);
  }
  const list = [...columns].sort((a, b) => a - b);
  return Math.max(0, ...list.slice(1).map((column, at) => column - list[at])) / (list.at(-1) - list[0]);
}, name);

test("a line has a gap where samples are missing, and none between samples that are usually apart", { skip: hosted ? false : "PLIMSOLL_PAGES has no page of one run with hosts" }, async () => {
  const { context, page, errors } = await counting(hosted);
  // Sampled in every third window. The first value is the highest, so that no label of a step covers the line of the others.
  const sampled = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? (index === 0 ? 2 : 1) : null));
  await withCurve(page, hosted, sampled);
  await page.locator("#chart-processes-0").scrollIntoViewIfNeeded();
  await page.locator("#chart-processes-0 canvas").waitFor();
  assert.ok(await longestGap(page, "processes-0") < 0.02);
  await withCurve(page, hosted, sampled.map((value, index) => (index > 20 && index < 40 ? null : value)));
  const gap = await longestGap(page, "processes-0");
  assert.ok(gap > 0.25 && gap < 0.45, `a gap of ${gap}`);
  assert.deepEqual(errors, []);
  await context.close();
});

test("an axis of counts has whole numbers, each once", { skip }, async () => {
  const [file] = alone;
  const { context, page, errors } = await openedChanged(browser, file, ({ runs: [{ timeline }] }) => {
    Object.assign(timeline, { connections: timeline.connections.map(() => 2), in_flight: timeline.in_flight.map(() => 1), backlog: timeline.backlog.map(() => 0) });
  }, () => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    // The labels of axes are larger than those of steps.
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      if (this.font.startsWith("12px")) (this.canvas.labels ??= []).push(text);
      fillText.call(this, text, ...more);
    };
  });
  await scrolled(page);
  const chart = page.locator("#chart-time-concurrency");
  await chart.scrollIntoViewIfNeeded();
  await chart.locator("canvas").waitFor();
  const labels = await chart.locator("canvas").evaluate((canvas) => canvas.labels.filter((text) => /^[\d,]+$/.test(text)));
  // A plot is painted more than once; each time the labels rise.
  const axis = labels.slice(0, labels.indexOf("2") + 1);
  assert.deepEqual(axis, ["0", "1", "2"]);
  assert.deepEqual(errors, []);
  await context.close();
});
