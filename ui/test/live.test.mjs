// Pages as a server serves them, in a real browser, with documents of PLIMSOLL_PAGES: what they say, on a small dark screen, with hostile text.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { HARMLESS, harm, hostile } from "./hostile.mjs";
import { documentOf, errorsOf, launched, overflow, pages, scrolled, serious, unfolded } from "./pages.mjs";
import { standIn } from "./stand-in.mjs";

const alone = pages.find((file) => path.basename(file) === "sweep.html");
const skip = alone ? false : "there is no sweep.html in PLIMSOLL_PAGES";
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

async function opened(address) {
  const context = await browser.newContext({ viewport: { width: 375, height: 800 }, colorScheme: "dark" });
  const page = await context.newPage();
  const errors = errorsOf(page);
  await page.goto(address);
  return { context, page, errors };
}

/** A run under way, with its first windows only. */
function soFar(document, windows) {
  const [run] = document.runs;
  const length = run.timeline.at_sec.length;
  const timeline = Object.fromEntries(Object.entries(run.timeline).map(([name, values]) =>
    [name, Array.isArray(values) && values.length === length && name !== "latency_bounds_ms" ? values.slice(0, windows) : values]));
  // Without hosts the last window of load is the last second of the document.
  Object.assign(timeline, { hosts_at_sec: [], resources: [], curves: [] });
  const recorded = { ...run.document, run: { ...run.document.run, sealed: false } };
  return { ...document, runs: [{ ...run, document: recorded, timeline }] };
}

const seconds = (text) => Number(/As of (\d+\.\d) s of the run/.exec(text)?.[1]);

test("a live page says up to when its figures go, and that they come sparingly", { skip }, async () => {
  const whole = documentOf(alone);
  const server = await standIn("live");
  const { context, page, errors } = await opened(server.address);
  const live = page.locator(".live");
  await live.getByText("Waiting for the first figures").waitFor();
  server.document(soFar(whole, 0));
  await live.getByText("No second of load is recorded yet").waitFor();
  await page.getByText("Nothing was recorded over time.").waitFor();
  const { at_sec: at, window_sec: window } = whole.runs[0].timeline;
  for (const windows of [2, 5]) {
    server.document(soFar(whole, windows));
    const end = at[windows - 1] + window;
    await live.getByText(`As of ${end.toFixed(1)} s of the run`).waitFor();
    assert.equal(seconds(await live.textContent()), Number(end.toFixed(1)));
    assert.equal(await page.locator("#chart-time-throughput").count(), 1, "its charts are there once there is something to draw");
  }
  await live.getByText("less often where making them would disturb the load").waitFor();
  // The age goes on without new documents, and without a connection.
  await live.getByText(/received \d+ s ago/).waitFor();
  server.leave();
  await live.getByText("The connection to the run is lost").waitFor();
  server.comeBack();
  await page.locator("html[data-live=on]").waitFor({ state: "attached" });
  server.document(whole);
  server.end();
  await live.getByText("The run has ended. This is the whole of it.").waitFor();
  assert.equal(await live.locator(".age").textContent(), "");
  assert.equal(await overflow(page), 0);
  // The browser reports the connection that was broken.
  assert.deepEqual(errors.filter((error) => !error.includes("net::ERR_")), []);
  await context.close();
  server.close();
});

test("a live page that gets no more says up to where it goes", { skip }, async () => {
  const server = await standIn("live");
  const { context, page } = await opened(server.address);
  await page.locator("html[data-live=waiting]").waitFor({ state: "attached" });
  server.document(soFar(documentOf(alone), 3));
  await page.locator("html[data-live=on]").waitFor({ state: "attached" });
  server.end();
  await page.getByText("The run has ended without a result").waitFor();
  await page.getByText(/The page goes up to \d+\.\d s of the run/).waitFor();
  await context.close();
  server.close();
});

test("a live page with hostile text in every field", { skip }, async () => {
  const server = await standIn("live");
  const { context, page, errors } = await opened(server.address);
  await page.locator("html[data-live=waiting]").waitFor({ state: "attached" });
  server.document(hostile(soFar(documentOf(alone), 4)));
  await page.locator("html[data-live=on]").waitFor({ state: "attached" });
  await harmless(page, errors);
  await context.close();
  server.close();
});

/** Draws and opens all that the page has, and finds that text stayed text. */
async function harmless(page, errors) {
  await scrolled(page);
  await unfolded(page);
  assert.deepEqual([errors, await harm(page)], [[], HARMLESS]);
  assert.equal(await overflow(page), 0, "px by which the page is wider than the window");
}

const run = {
  broken_per_sec: null, command: "run", cpu_us_per_request: null, file: "one.plimsoll", generator_healthy: true, held_per_sec: null, hostname: "host", id: "1", limit: "cpu",
  lower_bound: true, name: "one", p50_ms: 1, p99_ms: 2, plan_hash: "0", started_unix_ms: 1, success_ratio: 1, tags: { team: "web" },
  target: "http://127.0.0.1/", throughput_interval: null, throughput_per_sec: 100, tool_version: "0",
};
const list = {
  schema: "plimsoll/runs/1", runs: [run, { ...run, file: "two.plimsoll", name: "two" }],
  unreadable: [{ file: "three.plimsoll", damaged_in_part: true, reason: "damaged" }, { file: "four.plimsoll", damaged_in_part: false, reason: "empty" }],
};

test("a list of runs and one of them with hostile text in every field", { skip }, async () => {
  const server = await standIn("runs", { "/runs": hostile(list), "/page": hostile(documentOf(alone)) });
  const { context, page, errors } = await opened(server.address);
  const link = page.locator("main table tbody tr").first().getByRole("link");
  await link.waitFor();
  await harmless(page, errors);
  assert.deepEqual(await serious(page), []);
  await link.click();
  await page.locator("#answer").waitFor();
  await harmless(page, errors);
  await context.close();
  server.close();
});

test("a list of runs bounds the best throughput, and the rate of a search that found none that breaks", { skip }, async () => {
  const runs = [run, { ...run, file: "two.plimsoll", held_per_sec: 90, broken_per_sec: 95 }, { ...run, file: "three.plimsoll", throughput_per_sec: null },
    { ...run, file: "four.plimsoll", held_per_sec: 80, lower_bound: false }];
  const server = await standIn("runs", { "/runs": { ...list, runs } });
  const { context, page, errors } = await opened(server.address);
  const rates = page.locator("main table tbody tr td:nth-child(6)");
  await rates.first().waitFor();
  assert.deepEqual((await rates.allTextContents()).map((text) => text.startsWith("≥ ")), [true, false, false, true]);
  assert.match(await rates.nth(1).textContent(), /^90/);
  assert.deepEqual(errors, []);
  await context.close();
  server.close();
});

/** A list of runs whose first link opens. */
async function listed() {
  const server = await standIn("runs", { "/runs": list, "/page": documentOf(alone) });
  const found = await opened(server.address);
  const link = found.page.locator("main table tbody tr").first().getByRole("link");
  await link.waitFor();
  const close = async () => {
    assert.deepEqual(found.errors, []);
    await found.context.close();
    server.close();
  };
  return { ...found, server, link, close };
}

test("a click for another tab is left to the browser", { skip }, async () => {
  const { context, page, link, close } = await listed();
  for (const one of [link, page.getByRole("link", { name: "three.plimsoll" })]) {
    const [other] = await Promise.all([context.waitForEvent("page"), one.click({ modifiers: ["Control"] })]);
    await other.locator("#answer").waitFor();
    await other.close();
  }
  assert.equal(await page.locator("#runs").count(), 1, "the list is shown as before");
  await close();
});

test("a page of runs follows events only while its list is shown", { skip }, async () => {
  const { page, server, link, close } = await listed();
  const followed = async (times) => {
    const until = Date.now() + 20_000;
    while (server.followers() !== times && Date.now() < until) await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.equal(server.followers(), times);
  };
  await followed(1);
  const updated = page.waitForRequest(/\/runs\?/);
  server.changed();
  await updated;
  await link.click();
  await page.locator("#answer").waitFor();
  await followed(0);
  await page.getByRole("link", { name: "All runs" }).click();
  await link.waitFor();
  await followed(1);
  const show = (hidden) => page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await show(true);
  await followed(0);
  const asked = page.waitForRequest(/\/runs\?/);
  await show(false);
  await asked;
  await followed(1);
  await close();
});

test("a sentence after the target and a colon stands alone", { skip }, async () => {
  const server = await standIn("live");
  const { context, page, errors } = await opened(server.address);
  await page.locator("html[data-live=waiting]").waitFor({ state: "attached" });
  const document = soFar(documentOf(alone), 2);
  const [run] = document.runs;
  // Where the target and the sentence do not fit one line, the text has a line break in place of the colon.
  for (const [text, lead] of [
    [": nothing was measured, no request ended.", "Nothing was measured, no request ended."],
    ["\nall 234 answers came only after the load had ended.", "All 234 answers came only after the load had ended."],
    ["\nnothing was measured, no request ended.", "Nothing was measured, no request ended."],
    ["\nholds no load: of 3 requests none was answered.", "It holds no load: of 3 requests none was answered."],
  ]) {
    server.document({ ...document, runs: [{ ...run, text: `${run.target}${text}\n\n` }] });
    await page.locator("#answer .lead").getByText(lead, { exact: true }).waitFor();
  }
  assert.deepEqual(errors, []);
  await context.close();
  server.close();
});

test("an address of runs of a server leads to the run that it names", { skip }, async () => {
  const whole = documentOf(alone);
  const server = await standIn("runs", { "/runs": list, "/page": { ...whole, runs: [whole.runs[0], whole.runs[0]] } });
  const { context, page, errors } = await opened(`${server.address}&run=one.plimsoll&run=two.plimsoll#run-1`);
  await page.locator("#runs button:nth-child(2)[aria-current=true]").waitFor();
  await page.waitForFunction(() => Math.abs(document.getElementById("runs").getBoundingClientRect().top) < 20);
  assert.notEqual(await page.evaluate(() => window.scrollY), 0);
  assert.deepEqual(errors, []);
  await context.close();
  server.close();
});
