// Pages that tests open: their documents, changed documents, and Chromium.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.PLIMSOLL_PAGES;

/** Pages that `--html` made, by PLIMSOLL_PAGES; none without it. */
export const pages = folder ? readdirSync(folder).filter((name) => name.endsWith(".html")).map((name) => path.resolve(folder, name)) : [];
/** Why tests of these pages are skipped. */
export const skip = pages.length > 0 ? false : "PLIMSOLL_PAGES is not set";

export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const launched = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

const BEGIN = '<script type="application/json" id="plimsoll">';

/** A page in three parts: what is before its document, the document, and what is after. */
function parts(file) {
  const page = readFileSync(file, "utf8");
  const at = page.indexOf(BEGIN) + BEGIN.length;
  const end = page.indexOf("</script>", at);
  return [page.slice(0, at), page.slice(at, end), page.slice(end)];
}

/** The document in a page. */
export const documentOf = (file) => JSON.parse(parts(file)[1]);

/** The same page with another document. */
export function withDocument(file, document) {
  const [before, , after] = parts(file);
  return before + JSON.stringify(document).replaceAll("<", "\\u003c") + after;
}

/** A page once it is built, with the errors that it reports. A function `first` runs in the page before its own script. */
export async function opened(browser, file, width, colorScheme, first = null) {
  // The page's own policy also refuses scripts of a test.
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  const page = await context.newPage();
  const errors = errorsOf(page);
  if (first !== null) await page.addInitScript(first);
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  return { context, page, errors };
}

/** Opens the page with a document that a function has changed. */
export async function openedChanged(browser, file, change, first = null) {
  const document = documentOf(file);
  change(document);
  const folder = mkdtempSync(path.join(tmpdir(), "plimsoll-changed-"));
  const changed = path.join(folder, "page.html");
  writeFileSync(changed, withDocument(file, document));
  const found = await opened(browser, changed, 1000, "light", first);
  rmSync(folder, { recursive: true, force: true });
  return found;
}

/** The text of an element, with plain spaces. */
export const said = async (locator) => (await locator.textContent()).replaceAll("\u00a0", " ");

/** Errors that a page reports from now on. */
export function errorsOf(page) {
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  return errors;
}

/**
 * Presses a button, link or fold by the keyboard. The mouse would have to stay on it: charts above it are drawn as they come into view,
 * and one that takes more space than is kept for it moves what is below, on a slow machine between mouse down and mouse up.
 */
export async function press(locator) {
  await locator.focus();
  await locator.press("Enter");
}

/** Draws all charts: each is drawn when it comes into view. */
export async function scrolled(page) {
  await page.evaluate(async () => {
    for (const chart of document.querySelectorAll("figure[data-chart]")) {
      chart.scrollIntoView();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
  });
  await page.waitForFunction(() => [...document.querySelectorAll("figure[data-chart]")].every((chart) => chart.dataset.drawn === "true"));
}

/** Opens all folds, and waits until all tables have their rows, which are made when they are opened. */
export async function unfolded(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
  await page.waitForFunction(() => [...document.querySelectorAll("table[data-rows]")]
    .every((table) => table.tBodies[0].rows.length === Number(table.dataset.rows)));
}

/** How much wider the page is than the window, in px. */
export const overflow = (page) => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth));

/** What axe finds serious. */
export async function serious(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200)]);
}
