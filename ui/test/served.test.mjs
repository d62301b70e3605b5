// Pages that the program serves, in a real browser: PLIMSOLL is the program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { errorsOf, launched, overflow, press, scrolled, serious } from "./pages.mjs";

const program = process.env.PLIMSOLL;
const skip = program ? false : "PLIMSOLL is not set";
const folder = mkdtempSync(path.join(tmpdir(), "plimsoll-served-"));
const started = [];
let browser;
let target;

/** A command, and the first line of a stream that has an address. */
async function serving(stream, ...args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  const ended = new Promise((done) => { child.on("exit", done); });
  const address = new Promise((found, failed) => {
    const said = [];
    createInterface({ input: child[stream] }).on("line", (line) => {
      said.push(line);
      const [match] = /(http:\/\/)?127\.0\.0\.1:\d+\S*/.exec(line) ?? [];
      if (match) found(match);
    });
    child.on("exit", (code) => failed(new Error(`${args.join(" ")} ended with ${code}: ${said.join("\n")}`)));
  });
  child[stream === "stdout" ? "stderr" : "stdout"].resume();
  return { child, ended, address: await address };
}

async function opened(url) {
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 900 }, bypassCSP: false })).newPage();
  const errors = errorsOf(page);
  await page.goto(url);
  return { page, errors };
}

/** The page on a phone at night. */
async function small(page) {
  await page.setViewportSize({ width: 375, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await scrolled(page);
  assert.equal(await overflow(page), 0, "px by which the page is wider than the window");
  assert.deepEqual(await serious(page), []);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1000, height: 900 });
}

const load = (name, ...more) => ["sweep", `http://${target}/cpu?us=100`, "--ladder", "1,2,4", "--no-git", "-o", folder, "--name", name, ...(more.length === 0 ? ["--step", "1s"] : more)];

before(async () => {
  if (!program) return;
  browser = await launched();
  target = (await serving("stdout", "target")).address;
});

after(async () => {
  await browser?.close();
  for (const child of started) child.kill("SIGINT");
  rmSync(folder, { recursive: true, force: true });
});

test("a page follows a run to its end, and keeps what was opened", { skip }, async () => {
  const { address, ended } = await serving("stderr", ...load("watched", "--live", "--step", "4s"));
  const { page, errors } = await opened(address);
  await page.locator("html[data-live=on]").waitFor({ state: "attached" });
  await press(page.locator("details.data > summary").first());
  await page.locator(".live").getByText(/As of \d+\.\d s of the run, received/).waitFor();
  assert.equal(await ended, 0);
  await page.locator("html[data-live=ended]").waitFor({ state: "attached" });
  await page.getByText("The run has ended.").waitFor();
  assert.ok(await page.locator("#ladder").count() > 0, "all steps are there");
  assert.equal(await page.locator("details.data[open]").count(), 1);
  await small(page);
  assert.deepEqual(errors, []);
});

test("recorded runs are listed, filtered, opened and compared", { skip }, async () => {
  for (const name of ["first", "second"]) {
    const run = spawn(program, [...load(name), "--quiet"], { stdio: "ignore" });
    assert.equal(await new Promise((done) => { run.on("exit", done); }), 0);
  }
  const { address } = await serving("stdout", "view", folder);
  const { page, errors } = await opened(address);
  const rows = page.locator("main table tbody tr");
  await rows.filter({ hasText: "first" }).waitFor();
  await small(page);
  for (const name of ["first", "second"]) await rows.filter({ hasText: name }).locator("input[type=checkbox]").check();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator("#compared").waitFor();
  await small(page);
  await page.goBack();
  await rows.filter({ hasText: "first" }).waitFor();
  await page.getByLabel("Name or URL").fill("second");
  await rows.filter({ hasText: "first" }).waitFor({ state: "detached" });
  await rows.filter({ hasText: "second" }).getByRole("link").click();
  await page.locator("#answer").waitFor();
  await small(page);
  assert.deepEqual(errors, []);
});
