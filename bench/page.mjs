#!/usr/bin/env node
// Measures first paint and memory of a page that `--html` wrote: node bench/page.mjs PAGE.html [--loads 7].
// Each load has a Chromium of its own. Paint is the browser's first contentful paint; memory is read once all charts were drawn.
// `npm ci` in ui/ installs the browser's driver. The exit code is 3 if a goal was missed.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { chromium } = createRequire(new URL("../ui/package.json", import.meta.url))("playwright-core");
const MIB = 2 ** 20;
const GOAL_PAINT_MS = 1000;
const GOAL_MEMORY_MIB = 100;

/** Proportional set size of a process and its private part, in MiB. */
function memory(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "ascii");
  const kib = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)[1]);
  return { pss: kib("Pss") / 1024, unshared: (kib("Private_Clean") + kib("Private_Dirty")) / 1024 };
}

/** The process of the only tab. */
async function renderer(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const found = processInfo.filter(({ type }) => type === "renderer");
  // The browser may keep a spare renderer; the tab's renderer is the one with the most CPU time.
  return found.sort((one, other) => other.cpuTime - one.cpuTime)[0].id;
}

/** Charts are drawn when they come near the window: goes through the page once. */
async function scrolled(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
      scrollTo(0, y);
      await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
    }
  });
}

async function one(url) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await page.goto(url);
    await page.locator("html[data-ready=true]").waitFor({ state: "attached" });
    const ready = await page.evaluate(() => performance.now());
    const paint = await page.evaluate(() => new Promise((found) => {
      new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") found(startTime);
      }).observe({ type: "paint", buffered: true });
    }));
    const pid = await renderer(browser);
    const opened = memory(pid);
    await scrolled(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    const metric = (name) => metrics.find((one) => one.name === name).value;
    const undrawn = await page.locator("figure[data-drawn=false]").count();
    return {
      paint, ready, openedPss: opened.pss, openedPrivate: opened.unshared, pss: memory(pid).pss, private: memory(pid).unshared,
      heapUsed: metric("JSHeapUsedSize") / MIB, heap: metric("JSHeapTotalSize") / MIB, nodes: metric("Nodes"), undrawn,
    };
  } finally {
    await browser.close();
  }
}

const median = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

function row(label, loads, key, unit, goal) {
  const values = loads.map((load) => load[key]);
  const range = `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
  const middle = median(values);
  const verdict = goal === undefined ? ["–", "–"] : [`< ${goal} ${unit}`, middle < goal ? "met" : "**missed**"];
  return { met: goal === undefined || middle < goal, line: `| ${[label, `${middle.toFixed(0)} ${unit}`.trim(), range, ...verdict].join(" | ")} |` };
}

const { values: { loads: count }, positionals: [file] } = parseArgs({ allowPositionals: true, options: { loads: { type: "string", default: "7" } } });
if (file === undefined) {
  console.error("bench: name a page that --html wrote: node bench/page.mjs PAGE.html");
  process.exit(1);
}
const loads = [];
for (let index = 0; index < Number(count); index += 1) loads.push(await one(pathToFileURL(path.resolve(file)).href));
const rows = [
  row("first contentful paint", loads, "paint", "ms", GOAL_PAINT_MS),
  row("page is built", loads, "ready", "ms"),
  row("memory of the tab (PSS), as opened", loads, "openedPss", "MiB", GOAL_MEMORY_MIB),
  row("private part of it", loads, "openedPrivate", "MiB"),
  row("memory of the tab (PSS), all charts drawn", loads, "pss", "MiB", GOAL_MEMORY_MIB),
  row("private part of it", loads, "private", "MiB"),
  row("JavaScript heap in use", loads, "heapUsed", "MiB"),
  row("JavaScript heap", loads, "heap", "MiB"),
  row("nodes", loads, "nodes", ""),
  row("charts not drawn", loads, "undrawn", ""),
];
console.log(`A page of ${(statSync(file).size / 1e6).toFixed(1)} MB, ${loads.length} loads, each in a new browser.\n`);
console.log(["| figure | median | loads | goal | verdict |", "| --- | --- | --- | --- | --- |", ...rows.map(({ line }) => line)].join("\n"));
process.exit(rows.every(({ met }) => met) ? 0 : 3);
