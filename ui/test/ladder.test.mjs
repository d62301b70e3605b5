// What the charts say of plateaus and limits, in a real browser: PLIMSOLL_PAGES has sweep.html and rate.html.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { launched, openedChanged, pages, said, scrolled, unfolded } from "./pages.mjs";
import { cellsOf, read } from "./values.mjs";

const named = (name) => pages.find((file) => path.basename(file) === name);
const [sweep, rate] = [named("sweep.html"), named("rate.html")];
const skip = sweep && rate ? false : "there is no sweep.html or no rate.html in PLIMSOLL_PAGES";
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

/** A page whose only run was changed. */
async function changed(file, change) {
  const found = await openedChanged(browser, file, ({ runs: [run] }) => change(run.document, run));
  await scrolled(found.page);
  return found;
}

test("a ladder without a knee says whether it was still growing", { skip }, async () => {
  const none = (run) => Object.assign(run.answer, { knee_connections: null, plateau_per_sec: null, plateau_connections: null, plateau_interval: null });
  const growing = (at) => (run) => {
    none(run);
    run.findings = [{ id: "throughput_highest", value: run.steps.at(at).throughput_per_sec, what: "", interval: null, evidence: [] }];
  };
  const cases = [
    [growing(-1), "Throughput was still growing at 4 connections, the last step."],
    [growing(-2), "Throughput was still growing at 2 connections, the last step that was held to its end with successful responses."],
    [(run) => { none(run); run.findings = []; }, "No plateau is known: fewer than two steps were held to their end with successful responses."],
  ];
  for (const [change, sentence] of cases) {
    const { context, page } = await changed(sweep, change);
    const caption = await said(page.locator("#chart-ladder-throughput figcaption"));
    assert.ok(caption.startsWith(sentence), caption);
    await context.close();
  }
});

test("latency over time has the limit of the conditions", { skip }, async () => {
  const drawn = async (change) => {
    const { context, page } = await changed(rate, change);
    const chart = page.locator("#chart-time-latency");
    const found = [await said(chart.locator("figcaption")), await chart.locator("canvas").evaluate((canvas) => canvas.toDataURL())];
    await context.close();
    return found;
  };
  const [limited, withLine] = await drawn(() => undefined);
  const [free, without] = await drawn((run) => { run.answer.slo.latency = []; });
  assert.match(limited, /Dashed: limit p99 ≤ 50\.0 ms\.$/);
  assert.doesNotMatch(free, /limit/);
  assert.notEqual(withLine, without);
});

test("the step of the answer is that of its sentence, with its interval", { skip }, async () => {
  let step;
  const { context, page, errors } = await changed(sweep, (run, whole) => {
    [step] = run.steps;
    step.throughput_interval = [0.9 * step.throughput_per_sec, 1.1 * step.throughput_per_sec];
    Object.assign(run.answer, { plateau_connections: run.steps.at(-1).connections, plateau_interval: [1, 2], slo: null });
    whole.headline = { ...whole.headline, per_sec: step.throughput_per_sec, bound: "exact", step: step.index };
  });
  await unfolded(page);
  const marked = await page.locator("#chart-ladder-throughput tr.marked th").allTextContents();
  assert.deepEqual(marked.map(read), [step.connections]);
  assert.match(await said(page.locator("#chart-ladder-throughput figcaption")), new RegExp(`The best step has ${step.connections} connections? `));
  const certain = (await cellsOf(page, "certainty")).map(([, value]) => read(value));
  [step.throughput_interval[0], step.throughput_per_sec, step.throughput_interval[1]].forEach((value, at) =>
    assert.ok(Math.abs(certain[at] / value - 1) < 0.01, `${certain[at]}, not ${value}`));
  assert.deepEqual(errors, []);
  await context.close();
});

test("what the generator limited is a lower bound, without an interval and without a knee", { skip }, async () => {
  const { context, page, errors } = await changed(sweep, (run, whole) => {
    const step = run.steps.at(-1);
    for (const one of run.steps) one.lower_bound = one === step;
    Object.assign(run.answer, { lower_bound: true, knee_connections: run.steps[0].connections, plateau_per_sec: step.throughput_per_sec });
    whole.headline = { ...whole.headline, per_sec: step.throughput_per_sec, bound: "generator_limited", step: step.index };
    run.generator.ceiling = { worker: null, per_worker_per_sec: 900, ceiling_per_sec: 1000, known: false, age_sec: 10 };
  });
  await unfolded(page);
  const cells = await cellsOf(page, "ladder-throughput");
  assert.deepEqual(cells.map((row) => row[1].startsWith("≥ ")), cells.map((_, at) => at === cells.length - 1));
  assert.ok(cells.every((row) => !row.at(-1).includes("knee")));
  const caption = await said(page.locator("#chart-ladder-throughput figcaption"));
  assert.match(caption, /^With this generator throughput is within 5 % of its best from 1 connection on; .* The best step has 4 connections and ≥ /);
  assert.equal(await page.locator("#chart-certainty").count(), 0);
  assert.match(await said(page.locator("#generator")), /at least 1,000 requests\/s; in this run 900/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("steps of traces are counted from 1", { skip }, async () => {
  const { context, page, errors } = await changed(sweep, (run) => {
    const trace = { trace_id: "0af7651916cd43dd8448eb211c80319c", sent_sec: 0.5, latency_ms: 2, status: 200, failure: null };
    run.traces = [{ step: 0, slowest: [trace], unsuccessful: [] }, { step: 2, slowest: [trace], unsuccessful: [] }];
  });
  assert.deepEqual(await page.locator("#traces tbody th").allTextContents(), ["1", "3"]);
  assert.deepEqual(errors, []);
  await context.close();
});
