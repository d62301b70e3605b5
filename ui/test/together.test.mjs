// What pages of several runs say in words: PLIMSOLL_PAGES has plan.html, ab.html, ablate.html, diff.html and tiers.html, of which the documents are changed here.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { launched, openedChanged, pages, said, scrolled, unfolded } from "./pages.mjs";
import { cellsOf } from "./values.mjs";

const file = (name) => pages.find((one) => path.basename(one) === name);
const needed = ["plan.html", "ab.html", "ablate.html", "diff.html", "tiers.html"];
const skip = needed.every(file) ? false : `PLIMSOLL_PAGES lacks one of ${needed.join(", ")}`;
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

/** A page whose document of several runs was changed, with all that is drawn and folded. */
async function changed(name, change) {
  const found = await openedChanged(browser, file(name), ({ together }) => change(together.found, together));
  await scrolled(found.page);
  await unfolded(found.page);
  return found;
}

const growth = {
  from_per_sec: 1000, at: "old", stops: [{ tier: "api", resource: "cpu", limit: "cpu", detail: "", machines: 1.5, used: 0.5, at_per_sec: 2000, at_per_sec_interval: [1900, 2100],
    seen: false, scaled: 0.93 }],
};

/** A tier of a plan. */
const tier = (name, machines, atLeast) => ({
  tier: name, machines, machines_interval: null, at_least: atLeast, machines_with_spare: machines === null ? null : machines + 1, needs: [], sizes: [], carried: null,
  scaling: null, doubts: [],
});

test("a plan says what has no price or no number, and what is to be known with a change", { skip }, async () => {
  const { context, page, errors } = await changed("plan.html", ({ machines: plan }) => {
    const size = { cores: null, in_bits_per_sec: null, out_bits_per_sec: null, count: 3, per_hour: 0.17 };
    Object.assign(plan, {
      utilisation: 0.875, growth, tiers: [tier("api", 3, true), tier("db", null, false)], remarks: ["What holds without the change."],
      cost: { currency: "$", currency_leads: true, per_hour: 0.51, per_million: 0.02, at_least: true, without: ["db"], tiers: [{ tier: "api", machines: [size], per_hour: 0.51, at_least: true, alone: [], exact: true }] },
      what_if: { change: "db.cores=2x", tiers: [tier("api", 4, false)], growth: { ...growth, at: "changed" }, remarks: ["What holds with the change."] },
    });
  });
  const text = await said(page.locator("#machines"));
  assert.match(text, /need at least 3 machines of api, each used up to 87\.5 %\. How many machines of db are needed is not known\./);
  assert.match(text, /They cost ≥ \$0\.51 per hour: .* Without a price or a number: db\./);
  assert.match(text, /Growth is followed from changed, /);
  assert.ok(text.includes("What holds with the change.") && !text.includes("What holds without the change."));
  const rows = await page.locator("#machines table").first().locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].slice(0, 4).map((cell) => cell.textContent)));
  assert.deepEqual(rows, [["api", "≥ 3", "not known", "≥ 4"], ["db", "not known", "not known", "not known"]]);
  const stop = await page.locator("#machines table").last().locator("tbody tr").first().locator("td").allTextContents();
  assert.deepEqual([stop[1], stop[5]], ["1.50", "by what a request takes elsewhere; adding machines helped there: it scaled to 93 % of linear"]);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a day names its missing hours and what they save", { skip }, async () => {
  const hour = (number, machines, atLeast) => ({ hour: `${String(number).padStart(2, "0")}:00`, number, peak_per_sec: 100 * machines, machines: [machines], at_least: [atLeast], cost: machines, machines_interval: [null], sizes: [[]] });
  const { context, page, errors } = await changed("plan.html", ({ machines: plan }) => {
    plan.day = {
      hours: [hour(0, 1, false), hour(1, 2, true), hour(4, 3, false)], missing: 2, merges_days: false, tiers: [{ tier: "api", by_hour: 6, constant: 9 }, { tier: "db", by_hour: null, constant: null }],
      cost: { currency: "EUR", currency_leads: false, by_hour: 6, constant: 9, at_least: true, without: ["db"] },
    };
  });
  const text = await said(page.locator("#machines"));
  assert.match(text, /instead of those of the peak throughout: api 6 instead of 9, db not known\./);
  assert.match(text, /They cost ≥ 6\.00 EUR instead of ≥ 9\.00 EUR, 33 % less\. db is left out: it has no price or no number\./);
  assert.match(text, /Of 2 hours between them the file has no row; the sums leave them out\./);
  assert.deepEqual((await cellsOf(page, "day")).map((row) => [row[0], row[2], row.at(-1)]), [["00:00", "1", "≥ 1.00 EUR"], ["01:00", "≥ 2", "≥ 2.00 EUR"], ["04:00", "3", "≥ 3.00 EUR"]]);
  const plot = page.locator("#chart-day .plot");
  await plot.press("Home");
  for (const [key, label] of [["ArrowRight", "01:00: "], ["ArrowRight", "no row in the file: "], ["ArrowRight", "04:00: "]]) {
    await plot.press(key);
    assert.ok((await plot.getAttribute("aria-valuetext")).startsWith(label), `a gap between 01:00 and 04:00, at ${label}`);
  }
  assert.deepEqual(errors, []);
  await context.close();
});

test("given machines say what stops them first and then, and what is not known", { skip }, async () => {
  const limit = (name, perSec, text) => ({ tier: name, machines: 1.5, cause: "resource", resource: "cpu", per_sec: perSec, per_sec_interval: null, observed_share: 0.9, text });
  const { context, page, errors } = await changed("plan.html", (found) => {
    delete found.machines;
    found.fleet = {
      schema: "plimsoll/fleet/1", what_if: null, capacity: {
        machines: [{ tier: "api", machines: 1.5 }, { tier: "db", machines: 1 }], per_sec: 800, per_sec_interval: null, at_most: true, utilisation: 0.7, held_per_sec: 560, held_by: "api",
        from_per_sec: 400, at: "old", limits: [limit("api", 800, "the CPU of 1.50 machines"), limit("db", 900, "the CPU of 1 machine")], doubts: ["something may stop them earlier"],
      },
    };
  });
  const text = await said(page.locator("#machines"));
  assert.match(text, /1\.50 machines of api and 1 machine of db hold at most 800 requests\/s, stopped by api: the CPU of 1\.50 machines\./);
  assert.match(text, /then 900 requests\/s, stopped by db: the CPU of 1 machine/);
  assert.match(text, /At no more than 70 % of each machine they carry at most 560 requests\/s; api is the bound\./);
  assert.match(text, /Something may stop them earlier\./);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a side that holds no rate has no ratio in per cent", { skip }, async () => {
  const { context, page, errors } = await changed("ab.html", ({ ab }) => {
    const figure = { ...ab.figures[0], figure: "max_rate_per_sec", percentile: null, a: 900, b: 0, ratio: 0.001, ratio_interval: [0.0009, 0.0011], verdict: "worse" };
    Object.assign(ab, {
      load: "search", margin: 0.125, gate: "beyond", fails_more: false, figures: [figure, { ...figure, a: 0, b: 900, ratio: 1000, ratio_interval: [900, 1100] }],
      ratios: [{ round: 1, ratio: 0.001, first: "A" }, { round: 2, ratio: 1000, first: "B" }, { round: 3, ratio: 1.1, first: "A" }],
    });
  });
  assert.deepEqual((await cellsOf(page, "ab-figures")).map((row) => row.slice(3, 5)), [["0", ""], ["∞", ""]]);
  assert.match(await said(page.locator("#chart-ab-figures figcaption")), /^B holds no rate within the conditions, A holds about 900 requests\/s\. /);
  assert.deepEqual((await cellsOf(page, "ab-rounds")).map((row) => row[2]), ["0", "∞", "+10 %"]);
  const ticks = await page.locator("#chart-ab-rounds .ticks span").allTextContents();
  assert.ok(ticks.every((tick) => !/\d{3}/.test(tick)), ticks.join(", "));
  assert.equal(await page.locator("#chart-ab-rounds .dot").count(), 1);
  assert.match(await said(page.locator("#compared .lead")), /the margin of 12\.5 %\./);
  assert.deepEqual(errors, []);
  await context.close();
});

test("loads of a side that count for less have the reason, and are no lower bounds", { skip }, async () => {
  const sides = async (load) => {
    const { context, page, errors } = await changed("ab.html", ({ ab }) => {
      ab.load = load;
      Object.assign(ab.sides[0], { unusable: 0, limited: 2, open_ended: 0, wide: 0 });
      Object.assign(ab.sides[1], { unusable: 1, limited: 0, open_ended: load === "search" ? 3 : 0, wide: load === "search" ? 4 : 0 });
    });
    const text = await said(page.locator("#compared"));
    assert.deepEqual(errors, []);
    await context.close();
    assert.doesNotMatch(text, /lower bound/);
    return text;
  };
  const closed = await sides("closed");
  assert.match(closed, /, 2 limited by the generator/);
  assert.match(closed, /, 1 not usable/);
  const search = await sides("search");
  assert.match(search, /, 2 whose ladder the generator limited/);
  assert.match(search, /, 1 not usable, 3 without a rate that breaks, 4 whose rates that held and broke are far apart/);
});

test("a comparison has the highest rates of both searches, and what looks alike is explained", { skip }, async () => {
  const rates = (held, broken, againstHeld, againstBroken) =>
    ({ held_per_sec: held, broken_per_sec: broken, against_held_per_sec: againstHeld, against_broken_per_sec: againstBroken });
  const alike = { why: "requests", grave: true, side: null, old: "GET /x?k=…, 0 headers, body of 0 bytes", new: "GET /x?k=…, 0 headers, body of 0 bytes", value: null };
  const compared = async (highest, ...against) => {
    const { context, page, errors } = await changed("diff.html", ({ diff }) => { Object.assign(diff, { highest_rates: highest, not_comparable: against }); });
    const text = await said(page.locator("#compared"));
    assert.deepEqual(errors, []);
    await context.close();
    return text;
  };
  const both = await compared(rates(null, 1590, 3173, 3331), alike);
  assert.match(both, /Highest rate within the conditions, in requests\/s: old 3,173 \(to 3,331\), new below 1,590\./);
  assert.match(both, /requests: they differ in what is hidden or not shown here \(values of queries .*\): GET \/x\?k=…, 0 headers, body of 0 bytes\. Send the same in both runs\./);
  const open = await compared(rates(900, null, null, null), { ...alike, new: "GET /y, 0 headers, body of 0 bytes" });
  assert.match(open, /old not known, new ≥ 900\./);
  assert.match(open, /requests: GET \/x\?k=…, 0 headers, body of 0 bytes before, GET \/y, 0 headers, body of 0 bytes now/);
  assert.doesNotMatch(await compared(null), /Highest rate|requests:/);
});

test("a chosen margin of a comparison is not rounded, and both sides have their bounds", { skip }, async () => {
  const { context, page, errors } = await changed("diff.html", ({ diff }) => {
    Object.assign(diff, { gate: "within", margin: 0.125 });
    Object.assign(diff.best, { lower_bound: false, against_lower_bound: true });
    diff.rows.forEach((row, at) => Object.assign(row, { lower_bound: at === 0, against_lower_bound: at === 1 }));
  });
  assert.match(await said(page.locator("#compared .lead")), /the margin of 12\.5 %\./);
  const bounded = (await cellsOf(page, "diff-throughput")).map((row) => [row[1].startsWith("≥ "), row[2].startsWith("≥ ")]);
  assert.deepEqual(bounded.slice(0, 3), [[true, false], [false, true], [false, false]]);
  const caption = await said(page.locator("#chart-diff-throughput figcaption"));
  assert.match(caption, /^At best [^≥]* serves [^≥]*, .* ≥ [\d,]+ requests\/s with /);
  assert.deepEqual(errors, []);
  await context.close();
});

test("what is to be known of the cost of switches is said", { skip }, async () => {
  const { context, page, errors } = await changed("ablate.html", ({ switches: { ledgers: [ledger] } }) => {
    Object.assign(ledger, {
      unknown: ["gzip"], runs_at_most: 2, interactions: [{ switch: "cache", with: "log", extra_us: -12, extra_us_interval: [-14, -10] }],
    });
    ledger.order[0].ties = ["tls"];
    ledger.no_noise = "no combination was run twice, so these figures cannot be distinguished from noise";
    ledger.costs[0].cost_us_interval = null;
  });
  const text = await said(page.locator("#switches"));
  assert.match(text, /cache and log interact: together 12\.0 µs per request \(10\.0 µs to 14\.0 µs\) less than the sum of both\./);
  assert.match(text, /The cost of gzip is not known: no two combinations differ in it alone\./);
  assert.match(text, /In 2 of the runs the load generator was the limit: /);
  assert.match(text, /; or tls, which these runs do not distinguish from it/);
  assert.match(text, /No combination was run twice, so these figures cannot be distinguished from noise\./);
  assert.match(await said(page.locator("#chart-switch-costs-0 figcaption")), / to a request, without an interval\.$/);
  assert.deepEqual(errors, []);
  await context.close();
});

test("runs without a row among tiers are named", { skip }, async () => {
  const { context, page, errors } = await changed("tiers.html", ({ tiers }) => { tiers.without_row = ["refused", "late"]; });
  assert.match(await said(page.locator("#tiers")), /Without a row, because in none of their steps did 95 % of the requests succeed: refused, late\./);
  assert.deepEqual(errors, []);
  await context.close();
});
