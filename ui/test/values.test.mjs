// The values in the tables of charts, in a real browser: they are those of the document.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { documentOf, launched, opened, openedChanged, pages, said, skip, unfolded } from "./pages.mjs";
import { cellsOf, headsOf, read, says } from "./values.mjs";

let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

/** Compares rows of cells with rows of values, which may leave out the last cells. */
function same(cells, values, what) {
  assert.equal(cells.length, values.length, `rows of ${what}`);
  const other = cells.flatMap((row, at) => values[at].flatMap((value, column) =>
    (says(row[column], value) ? [] : [`row ${at + 1}, column ${column + 1}: ${row[column]}, not ${value}`])));
  assert.deepEqual(other, [], what);
}

/** The ladder: every step, by connections. */
async function ladder(page, { document }) {
  const steps = document.steps.filter((step) => step.rate_per_sec === null && step.connections > 0).sort((a, b) => a.connections - b.connections);
  if (steps.length < 2) return assert.equal(await page.locator("#ladder").count(), 0);
  const throughput = (await cellsOf(page, "ladder-throughput")).map((row) => [row[0], row[1], row[3]]);
  same(throughput, steps.map((step) => [step.connections, step.throughput_per_sec, step.success_ratio]), "throughput of the ladder");
  same(await cellsOf(page, "ladder-latency"), steps.map(({ connections, latency_ms: time }) =>
    [connections, time.mean, time.p50, time.p90, time.p99, time.p999, time.max]), "latency of the ladder");
}

/** Charts over time: every window. */
async function load(page, { timeline }) {
  if (timeline.at_sec.length === 0) return;
  const open = timeline.steps.some((step) => step.rate_per_sec !== null);
  const at = timeline.at_sec.map((sec) => sec * 1e3);
  // An instant has one decimal.
  const times = (await cellsOf(page, "time-throughput")).map((row) => read(row[0]));
  assert.ok(times.every((time, index) => Math.abs(time - at[index]) <= 51), "the begin of each window");
  const rows = (name) => cellsOf(page, name).then((all) => all.map((row) => row.slice(1)));
  same(await rows("time-throughput"), at.map((_, index) =>
    [...(open ? [timeline.due_per_sec[index]] : []), timeline.throughput_per_sec[index]]), "throughput over time");
  same(await rows("time-concurrency"), at.map((_, index) => [timeline.in_flight[index], timeline.connections[index]]), "concurrency over time");
  const latency = await rows("time-latency");
  same(latency, at.map((_, index) => [timeline.p50_ms[index], timeline.p99_ms[index]]), "percentiles over time");
  heat(latency.map((row) => row.slice(2)), (await headsOf(page, "time-latency")).slice(3), timeline);
}

/** The heat map: each column is a range of latency without a gap to the next, and each row has all responses of its window. */
function heat(cells, heads, { latency, latency_bounds_ms: bounds }) {
  const ends = heads.map((head) => head.split(" to "));
  assert.ok(heads.length <= 10 && (bounds.length === 0 || heads.length > 0), `${heads.length} classes`);
  if (bounds.length === 0) return;
  assert.ok(says(ends[0][0], bounds[0]) && says(ends[ends.length - 1][1], bounds[bounds.length - 1]), heads.join(", "));
  assert.ok(ends.every(([from], at) => at === 0 || from === ends[at - 1][1]), heads.join(", "));
  const counted = cells.map((row) => row.map((cell) => read(cell)));
  // Every class of the document is counted in the column whose range it lies in.
  const column = (low) => ends.findLastIndex(([from]) => read(from) <= low * 1.006);
  const expected = latency.map(({ from, counts }) => {
    const row = heads.map(() => 0);
    counts.forEach((count, offset) => { row[column(bounds[from + offset])] += count; });
    return row;
  });
  assert.deepEqual(counted, expected);
}

/** The position of the step at which hosts are shown: that of the highest throughput, or of the plateau. */
function busiest({ answer, steps }) {
  const plateau = steps.findIndex((step) => step.rate_per_sec === null && step.connections === answer.plateau_connections);
  if (plateau >= 0) return plateau;
  return steps.reduce((best, step, at) => ((step.throughput_per_sec ?? -1) > (steps[best]?.throughput_per_sec ?? -1) ? at : best), 0);
}

/** Hosts: each use of a resource at that step, and the course of each over time. */
async function hosts(page, { document, timeline }) {
  if (document.hosts.length > 0) {
    // The page has those first that are nearest to their capacity.
    const filled = (use) => (use.used === null || !(use.capacity > 0) ? -1 : use.used / use.capacity);
    const uses = document.hosts.flatMap((host) => host.usage.filter((use) => use.step === busiest(document)).sort((a, b) => filled(b) - filled(a))
      .map((use) => ({ ...use, host: host.name })));
    const cells = await cellsOf(page, "hosts");
    assert.deepEqual(cells.map(([name]) => name), uses.map((use) => use.host));
    same(cells.map((row) => row.slice(2, 4)), uses.map((use) => [inMs(use.unit, use.used), inMs(use.unit, use.capacity)]), "use of resources");
  }
  for (const name of new Set(timeline.resources.map((one) => one.host))) {
    const charts = await page.evaluate((host) => [...document.querySelectorAll("#time figure[data-chart]")]
      .filter((chart) => [host, `${host}:`].some((title) => chart.querySelector("h3").textContent === title || chart.querySelector("h3").textContent.startsWith(`${host}: `)))
      .map((chart) => chart.dataset.chart).filter((chart) => /^(resources|amounts)-/.test(chart)), name);
    const tables = await Promise.all(charts.map((chart) => cellsOf(page, chart)));
    const list = timeline.resources.filter((one) => one.host === name);
    timeline.hosts_at_sec.forEach((_, window) => {
      const numbers = (a, b) => (a ?? -1) - (b ?? -1);
      const used = list.map((one) => inMs(one.unit, one.used[window])).sort(numbers);
      const cells = tables.flatMap((rows) => rows[window].slice(1)).sort((a, b) => numbers(read(a), read(b)));
      same([cells], [used], `resources of ${name}, window ${window + 1}`);
    });
  }
}

/** Failures: what ended without success by kind, status and check, each step once, the most frequent first. */
async function failures(page, { document }) {
  const all = [...document.steps, ...(document.search?.trials ?? []).map((trial) => trial.step)];
  const steps = [...new Map(all.map((step) => [step.index, step])).values()];
  const counts = new Map();
  for (const step of steps) {
    const refused = Object.entries(step.status).filter(([status]) => step.unwanted_status.includes(Number(status)));
    for (const [kind, entries] of [["failed", Object.entries(step.failed)], ["status", refused], ["check", Object.entries(step.failed_checks)]]) {
      for (const [name, value] of entries) if (value > 0) counts.set(`${kind} ${name}`, (counts.get(`${kind} ${name}`) ?? 0) + value);
    }
  }
  if (counts.size === 0) return assert.equal(await page.locator("#chart-failures").count(), 0);
  const ended = steps.reduce((sum, step) => sum + Object.values(step.failed).reduce((one, other) => one + other, step.completed), 0);
  const values = [...counts.values()].sort((a, b) => b - a);
  same((await cellsOf(page, "failures")).map((row) => row.slice(1, 3)), values.map((value) => [value, value / ended]), "requests without success");
}

/** Times are compared in milliseconds. */
const inMs = (unit, value) => (unit === "sec" && value !== null ? value * 1e3 : value);

for (const file of pages.filter((file) => documentOf(file).runs.length > 0)) {
  test(`${path.basename(file)}: tables have the values of the document`, async () => {
    const { context, page, errors } = await opened(browser, file, 1440, "light");
    // A page of a comparison shows no run until one is chosen.
    await page.evaluate(() => { location.hash = "#run-0"; });
    await page.locator(".run").waitFor();
    await unfolded(page);
    const [run] = documentOf(file).runs;
    await ladder(page, run);
    await load(page, run);
    await hosts(page, run);
    await failures(page, run);
    assert.deepEqual(errors, []);
    await context.close();
  });
}

/** A page of one run without a failure. */
const single = pages.find((file) => path.basename(file) === "sweep.html");
const withoutSingle = single ? false : "there is no sweep.html in PLIMSOLL_PAGES";

/** A span of an overload. */
const span = (goodput, refused, failed) => ({
  offered_per_sec: 2000, span_sec: 2, due: 4000, goodput_per_sec: goodput, goodput_interval: null, good_ratio: 0.1, late: 0, refused, failed,
  p50_ms: 1, p99_ms: 2, in_flight: 0, backlog: 0,
});

test("failures of overloads are counted, and what is not known of one is not 0", { skip: withoutSingle }, async () => {
  const moment = (at) => ({ at_sec: at, due_per_sec: 2000, goodput_per_sec: 10, answered_per_sec: 20 });
  const overload = {
    class: "metastable", at_factor: 2, by_ladder: false, doubt: null, rate_per_sec: 1234.7, limit_ms: null, reference: null, reference_doubt: null, ramp: "keeps_up",
    steps: [{
      index: 90, factor: 2, onset: "jump", outcome: "unknown", doubt: "interrupted", lost_after_sec: 3, kept: null, kept_interval: null, back_after_sec: null, not_back_within_sec: null,
      queue_gone_after_sec: null, before: span(900, 0, {}), whole: span(10, 1000, { timed_out: 3000 }), settled: span(null, 0, {}), over_time: [moment(0.5), moment(1)],
    }],
    protection: { rate_per_sec: 1234.7, burst: 3, concurrency: 9, in_progress: 5, wait_ms: 1 },
  };
  const { context, page, errors } = await openedChanged(browser, single, ({ runs: [{ document }] }) => {
    Object.assign(document, { overload });
    for (const step of document.steps) Object.assign(step, { failed: {}, failed_checks: {}, unwanted_status: [] });
  });
  await unfolded(page);
  const failed = await said(page.locator("#failures"));
  assert.match(failed, /None in the steps before the overloads: all /);
  assert.match(failed, /4,000 requests ended without success/);
  const found = await said(page.locator("#overload"));
  assert.match(found, /let in at most 1,234 requests\/s and 9 at a time/);
  assert.match(found, /In a ramp after the jumps it answers nearly all of the highest load/);
  assert.match(found, /At 2× it went away 3\.?0* ?s after the overload began/);
  const counted = await cellsOf(page, "overload-goodput");
  assert.deepEqual(counted.map((row) => [row[2], row[6], row[7]]), [["not known", "1,000", "3,000"]], "what went wrong is that of the whole overload");
  assert.deepEqual(errors, []);
  await context.close();
});

test("instants after the first minute have a decimal where they are not whole seconds", { skip: withoutSingle }, async () => {
  const { context, page, errors } = await openedChanged(browser, single, ({ runs: [{ timeline }] }) => {
    timeline.at_sec = timeline.at_sec.map((_, index) => 61 + 0.2 * index);
  });
  await unfolded(page);
  const times = (await cellsOf(page, "time-throughput")).map((row) => row[0]);
  assert.deepEqual(times.slice(0, 3), ["1 min 01 s", "1 min 01.2 s", "1 min 01.4 s"]);
  assert.deepEqual(errors, []);
  await context.close();
});
