// The entry point: reads the embedded document, shows its runs, and follows updates.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { destroyFigures, drawAll, letRest } from "./charts/figure";
import { embedded, type PageDocument } from "./document";
import { h, foreign, visible } from "./dom";
import { liveLine } from "./live";
import { runView, type RunView } from "./run";
import { asksForRun, noteRun, opensElsewhere, runOfAddress, runOfPart, runPart } from "./route";
import { runsPage } from "./runs";
import { compare } from "./sections/compare";
import { served } from "./served";
import { together } from "./together/together";
import { theme, toggleTheme, watchTheme } from "./theme";

const root = document.getElementById("page") ?? document.body.appendChild(h("div"));
let shown = 0;
/** The document on the page; null while the page shows a list of runs. */
let current: PageDocument | null = null;
let view: RunView | null = null;
/** The content above the run on a served page. */
let above: HTMLElement | null = null;

function header(): HTMLElement {
  const label = (): string => (theme() === "dark" ? "Light" : "Dark");
  const button = h("button", { type: "button", class: "theme", click: () => { toggleTheme(); button.textContent = label(); } }, label());
  return h("header", {}, h("span", { class: "brand" }, "Plimsoll"), button);
}

/** Replaces the whole page. */
function put(...children: (HTMLElement | null)[]): void {
  root.replaceChildren(header(), h("main", {}, ...children));
  document.documentElement.dataset["ready"] = "true";
}

/** Releases the content of the page. */
function clear(): void {
  current = null;
  view?.close();
  view = null;
  destroyFigures(root);
}

function render(page: PageDocument): void {
  clear();
  current = page;
  noteRun(shown);
  const run = page.runs[shown];
  const several = page.runs.length > 1;
  const said = together(page);
  view = run === undefined ? null : runView(run, shown);
  const tabs = !several && said === null ? null : h("nav", { class: "runs", id: "runs", "aria-label": "Runs" }, ...page.runs.map((one, index) =>
    h("button", { type: "button", "aria-current": index === shown ? "true" : null, click: () => goTo(index) }, foreign(one.name))));
  const title = page.together?.name ?? run?.name;
  document.title = title === undefined ? "Plimsoll" : `${visible(title)} – Plimsoll`;
  const nothing = said === null && above === null && view === null;
  put(above, said, several && !hasRows(page) ? compare(page) : null, page.runs.length === 0 ? null : tabs, view?.element ?? null,
    nothing ? h("section", {}, h("h1", {}, "No run"), h("p", {}, "This page has no run to show.")) : null);
}

/** Whether the comparison of the runs already has a table with a row for each. */
const hasRows = (page: PageDocument): boolean =>
  page.together !== null && ("lab" in page.together.found || "tiers" in page.together.found);

/** Shows the first run; a page of a comparison shows no run until the reader chooses one. */
function begin(page: PageDocument): void {
  shown = runOfAddress(page.runs.length) ?? (page.together === null ? 0 : -1);
  render(page);
  if (asksForRun()) toRun();
}

function toRun(): void {
  document.getElementById("runs")?.scrollIntoView();
}

/** Goes to a run. Setting an unchanged fragment fires no event, and `follow` does not scroll to the run already shown. */
function goTo(run: number): void {
  location.hash = runPart(run);
  if (run === shown) toRun();
}

/** Follows a link to a run, anywhere on the page. The browser handles a click for another tab or window. */
function followLink(event: MouseEvent): void {
  if (opensElsewhere(event) || !(event.target instanceof Element)) return;
  const run = runOfPart(event.target.closest('a[href^="#run-"]')?.getAttribute("href") ?? "");
  if (Number.isNaN(run)) return;
  event.preventDefault();
  goTo(run);
}

/** Shows the run that the URL names now, after a link or Back. */
function follow(): void {
  if (current === null) return;
  const run = runOfAddress(current.runs.length) ?? shown;
  if (run === shown) {
    noteRun(shown);
    return;
  }
  shown = run;
  render(current);
  if (asksForRun()) toRun();
  // The element that had the focus was rebuilt.
  root.querySelector<HTMLElement>("#runs [aria-current]")?.focus({ preventScroll: true });
}

/** Shows a later state of the document, with the same run and the same zoom. */
function update(page: PageDocument): void {
  const run = page.runs[shown];
  if (view === null || run === undefined || page.runs.length > 1) render(page);
  else {
    current = page;
    view.update(run);
  }
}

/** Shows a list of runs, and the runs that the reader opens from it. */
function browse(): void {
  runsPage({
    show: (title, ...children) => {
      document.title = title;
      clear();
      put(...children);
    },
    render: (page, before) => { above = before; begin(page); },
  });
}

watchTheme();
const kind = served();
if (kind === "live") above = liveLine();
if (kind === "runs") browse();
else begin(embedded() ?? { schema: "plimsoll/page/1", together: null, runs: [] });

root.addEventListener("click", followLink);
window.addEventListener("popstate", follow);
window.addEventListener("hashchange", follow);
// live.ts dispatches this event when the server sends a newer document.
document.addEventListener("plimsoll:document", (event) => update((event as CustomEvent<PageDocument>).detail));
window.addEventListener("beforeprint", drawAll);
window.addEventListener("afterprint", letRest);
window.matchMedia("print").addEventListener("change", (print) => { if (print.matches) drawAll(); else letRest(); });
