// What the charts say of plateaus and limits, in a real browser: PLIMSOLL_PAGES has sweep.html and rate.html.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { documentOf, launched, opened, pages, scrolled, withDocument } from "./pages.mjs";

const named = (name) => pages.find((file) => path.basename(file) === name);
const [sweep, rate] = [named("sweep.html"), named("rate.html")];
const skip = sweep && rate ? false : "there is no sweep.html or no rate.html in PLIMSOLL_PAGES";
const folder = mkdtempSync(path.join(tmpdir(), "plimsoll-captions-"));
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A page whose only run was changed. */
async function changed(file, change) {
  const document = documentOf(file);
  change(document.runs[0].document);
  const other = path.join(folder, "page.html");
  writeFileSync(other, withDocument(file, document));
  const found = await opened(browser, other, 1000, "light");
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
    const caption = (await page.locator("#chart-ladder-throughput figcaption").textContent()).replaceAll("\u00a0", " ");
    assert.ok(caption.startsWith(sentence), caption);
    await context.close();
  }
});

test("latency over time has the limit of the conditions", { skip }, async () => {
  const drawn = async (change) => {
    const { context, page } = await changed(rate, change);
    const chart = page.locator("#chart-time-latency");
    const found = [(await chart.locator("figcaption").textContent()).replaceAll("\u00a0", " "), await chart.locator("canvas").evaluate((canvas) => canvas.toDataURL())];
    await context.close();
    return found;
  };
  const [limited, withLine] = await drawn(() => undefined);
  const [free, without] = await drawn((run) => { run.answer.slo.latency = []; });
  assert.match(limited, /Dashed: limit p99 ≤ 50\.0 ms\.$/);
  assert.doesNotMatch(free, /limit/);
  assert.notEqual(withLine, without);
});
