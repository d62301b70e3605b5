// The URL names the run that is shown, in a real browser: PLIMSOLL_PAGES has diff.html, of two runs.
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { documentOf, launched, opened, pages, press } from "./pages.mjs";

const file = pages.find((one) => path.basename(one) === "diff.html");
const skip = file ? false : "there is no diff.html in PLIMSOLL_PAGES";
let browser;

before(async () => { if (!skip) browser = await launched(); });
after(async () => browser?.close());

/** The run that is shown: its heading and its tab. */
const shown = (page, index) => page.locator(`#runs button:nth-child(${index + 1})[aria-current=true]`).waitFor();
const none = (page) => page.waitForFunction(() => document.querySelector("#runs [aria-current]") === null && document.querySelector(".run") === null);

test("Back leads to the run that was shown before", { skip }, async () => {
  const { context, page, errors } = await opened(browser, file, 1000, "light");
  await none(page);
  for (const index of [0, 1]) {
    await press(page.locator("#runs button").nth(index));
    await shown(page, index);
    assert.equal(new URL(page.url()).hash, `#run-${index}`);
  }
  // A jump to a part of a run is an entry too.
  await press(page.locator(".contents a", { hasText: "Over time" }));
  await press(page.locator("#runs button").nth(0));
  await shown(page, 0);
  await page.goBack();
  await shown(page, 1);
  assert.equal(new URL(page.url()).hash, "#time");
  await page.goBack();
  await page.goBack();
  await shown(page, 0);
  await page.goBack();
  await none(page);
  await page.goForward();
  await shown(page, 0);
  assert.deepEqual(errors, []);
  await context.close();
});

test("an address opens its run, one that the page has not opens none", { skip }, async () => {
  const { context, page, errors } = await opened(browser, file, 1000, "light");
  const url = pathToFileURL(file).href;
  const last = documentOf(file).runs.length - 1;
  for (const [part, expected] of [[`#run-${last}`, last], ["#run-99", null], ["#run-0", 0]]) {
    await page.goto("about:blank");
    await page.goto(url + part);
    await (expected === null ? none(page) : shown(page, expected));
  }
  assert.deepEqual(errors, []);
  await context.close();
});

test("a link and the tab of the run that is shown lead to it again", { skip }, async () => {
  const { context, page, errors } = await opened(browser, file, 1000, "light");
  await press(page.locator("#runs button").nth(0));
  await shown(page, 0);
  const top = () => page.locator("#runs").evaluate((tabs) => Math.round(tabs.getBoundingClientRect().top));
  const reached = await top();
  const links = page.locator('main a[href="#run-0"]');
  for (const element of [...(await links.count() > 0 ? [links.first()] : []), page.locator("#runs button").nth(0)]) {
    await page.evaluate(() => window.scrollTo(0, 0));
    assert.notEqual(await top(), reached);
    await element.evaluate((one) => one.click());
    assert.equal(await top(), reached);
  }
  assert.equal(new URL(page.url()).hash, "#run-0");
  assert.deepEqual(errors, []);
  await context.close();
});
