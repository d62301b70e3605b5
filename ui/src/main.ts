// The page: reads the document in it, shows its runs, and follows the document if it changes.

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
/** The document that is shown; null while a list of runs is. */
let current: PageDocument | null = null;
let view: RunView | null = null;
/** What stands above the run on a page that a server serves. */
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

/** Gives up what the page shows. */
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

/** Whether what the runs say together is a table with a row for each. */
const hasRows = (page: PageDocument): boolean =>
  page.together !== null && ("lab" in page.together.found || "tiers" in page.together.found);

/** The page begins with its only run; where several are compared, a run is shown once it is chosen. */
function begin(page: PageDocument): void {
  shown = runOfAddress(page.runs.length) ?? (page.together === null ? 0 : -1);
  render(page);
  if (asksForRun()) toRun();
}

function toRun(): void {
  document.getElementById("runs")?.scrollIntoView();
}

/** Goes to a run. An address that is the same makes no event, and `follow` leaves the run that is shown where it is. */
function goTo(run: number): void {
  location.hash = runPart(run);
  if (run === shown) toRun();
}

/** Follows a link to a run, wherever it stands; one for another tab or window is left to the browser. */
function followLink(event: MouseEvent): void {
  if (opensElsewhere(event) || !(event.target instanceof Element)) return;
  const run = runOfPart(event.target.closest('a[href^="#run-"]')?.getAttribute("href") ?? "");
  if (Number.isNaN(run)) return;
  event.preventDefault();
  goTo(run);
}

/** Shows the run that the address has come to ask for, by a link or by Back. */
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
  // What had the focus is made anew.
  root.querySelector<HTMLElement>("#runs [aria-current]")?.focus({ preventScroll: true });
}

/** Shows a later state of the document: the same run stays on the page, with the same zoom. */
function update(page: PageDocument): void {
  const run = page.runs[shown];
  if (view === null || run === undefined || page.runs.length > 1) render(page);
  else {
    current = page;
    view.update(run);
  }
}

/** A list of runs, and the runs that are chosen from it. */
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
// The events of a server that has later figures are dispatched here.
document.addEventListener("plimsoll:document", (event) => update((event as CustomEvent<PageDocument>).detail));
window.addEventListener("beforeprint", drawAll);
window.addEventListener("afterprint", letRest);
window.matchMedia("print").addEventListener("change", (print) => { if (print.matches) drawAll(); else letRest(); });
