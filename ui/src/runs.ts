// The recorded runs of a server: a list with filters, one run, or several side by side. Each view has a URL, so that Back works.

import type { PageDocument } from "./document";
import { type Child, foreign, h } from "./dom";
import { atLeast, count, counted, date, milliseconds } from "./format";
import type { RunEntryDocument, RunsDocument, UnreadableRunDocument } from "./generated/runs";
import { opensElsewhere } from "./route";
import { address, fetched, followWhileShown } from "./served";
import { limitName } from "./words";

/** Shows an element under a title, or renders a page of runs. */
export interface Place {
  show: (title: string, ...children: HTMLElement[]) => void;
  render: (page: PageDocument, before: HTMLElement) => void;
}

type Parameters = [string, string][];

const FILTERS = [
  ["match", "Name or URL", "checkout"], ["target", "URL", "/api"], ["tag", "Tag", "key or key=value"],
] as const;

/** The query parameters of the URL, without the token. */
const current = (): Parameters => [...new URLSearchParams(location.search)].filter(([name]) => name !== "token");
const only = (name: string): Parameters => current().filter(([known]) => known === name);

export function runsPage(place: Place): void {
  let shown = "";
  const go = (parameters: Parameters): void => {
    history.pushState(null, "", address("/", parameters));
    route();
  };
  const list = listView(go);
  const open = async (chosen: Parameters): Promise<void> => {
    const back = h("p", {}, linkTo([], {}, go, "All runs"));
    const asked = JSON.stringify(chosen);
    place.show("Plimsoll", back, h("p", { role: "status" }, "Reading the run…"));
    try {
      const page = await fetched<PageDocument>("/page", chosen);
      if (shown !== asked) return;
      // Before the run is shown, because rendering it may scroll to the fragment of the URL.
      window.scrollTo(0, 0);
      place.render(page, back);
    } catch (error) {
      if (shown === asked) place.show("Plimsoll", back, h("p", { class: "bad", role: "alert" }, foreign((error as Error).message)));
    }
  };
  const listen = followWhileShown("changed", {
    open: () => list.say(""),
    lost: () => list.say("The server does not answer; the list is as it was. This page tries again."),
    event: () => void list.load(),
    end: () => list.say("The server has ended."),
  }, () => void list.load());
  const route = (): void => {
    const chosen = only("run");
    const asked = JSON.stringify(chosen);
    // A jump within a run changes only the fragment.
    if (chosen.length > 0 && asked === shown) return;
    shown = asked;
    listen(chosen.length === 0);
    if (chosen.length > 0) { void open(chosen); return; }
    list.filtersFromAddress();
    place.show("Runs – Plimsoll", list.element);
    void list.load();
  };
  window.addEventListener("popstate", route);
  route();
}

/**
 * Formats the rate that a search held, a lower bound if no rate above it broke; else the best throughput, a lower bound if the generator
 * was the limit.
 */
function perSecond(run: RunEntryDocument): string {
  const { held_per_sec: held, throughput_per_sec: best } = run;
  const isLower = held === null ? run.lower_bound : run.broken_per_sec === null;
  return atLeast(count, held ?? best, isLower);
}

/** A link within the page of runs. */
const linkTo = (to: Parameters, attributes: { title?: string }, go: (to: Parameters) => void, name: Child): HTMLElement =>
  h("a", { ...attributes, href: address("/", to), click: (event) => {
    if (opensElsewhere(event as MouseEvent)) return;
    event.preventDefault();
    go(to);
  } }, name);

/** A row of the list: a box that selects the run for a comparison, and a link that opens the run. */
const runRow = (run: RunEntryDocument, ticked: boolean, tick: (file: string, on: boolean) => void, go: (to: Parameters) => void): HTMLElement =>
  h("tr", { "data-file": run.file },
    h("td", {}, h("input", {
      type: "checkbox", "aria-label": `Compare ${run.name}, ${run.file}`, checked: ticked,
      change: (event) => tick(run.file, (event.target as HTMLInputElement).checked),
    })),
    h("th", { scope: "row", class: "text" }, linkTo([["run", run.file]], { title: run.file }, go, foreign(run.name)), run.id === null ? h("span", { class: "note" }, " did not end in order") : null),
    h("td", { class: "text" }, foreign(run.target)),
    h("td", { class: "text" }, h("span", { class: "nowrap" }, date(run.started_unix_ms))),
    h("td", { class: "text" }, foreign(Object.entries(run.tags).map(([key, value]) => (value === "" ? key : `${key}=${value}`)).join(" "))),
    h("td", {}, perSecond(run)),
    h("td", {}, milliseconds(run.p99_ms)),
    h("td", { class: "text" }, limitName(run.limit)));

function listView(go: (parameters: Parameters) => void) {
  const ticked = new Set<string>();
  const state = h("p", { class: "note", role: "status" });
  const server = h("p", { class: "note", role: "status" });
  const rows = h("tbody");
  const damaged = h("div");
  const compare = h("button", { type: "button", click: () => go([...ticked].map((file) => ["run", file])) }, "Compare");
  const inputs = FILTERS.map(([name, label, example]) => {
    const input = h("input", { type: "search", name, placeholder: example, autocomplete: "off", spellcheck: "false" });
    return [name, input, h("label", {}, label, input)] as const;
  });
  const filters = (): Parameters =>
    inputs.flatMap(([name, input]) => (input.value.trim() === "" ? [] : [[name, input.value.trim()] as [string, string]]));
  const tick = (file: string, on: boolean): void => {
    if (on) ticked.add(file); else ticked.delete(file);
    compare.disabled = ticked.size < 2;
    compare.textContent = ticked.size < 2 ? "Compare" : `Compare ${ticked.size} runs`;
  };
  const row = (run: RunEntryDocument): HTMLElement => runRow(run, ticked.has(run.file), tick, go);
  let newest = 0;
  const load = async (): Promise<void> => {
    const own = (newest += 1);
    try {
      const found = await fetched<RunsDocument>("/runs", filters());
      // A response to an earlier filter may arrive late.
      if (own !== newest) return;
      const focused = document.activeElement?.closest("tr[data-file]")?.getAttribute("data-file");
      const at = document.activeElement?.matches("input") ? "input" : "a";
      rows.replaceChildren(...found.runs.map(row));
      if (focused) rows.querySelector<HTMLElement>(`tr[data-file="${CSS.escape(focused)}"] ${at}`)?.focus();
      damaged.replaceChildren(...unlisted(found, go));
      const files = new Set(found.runs.map((run) => run.file));
      for (const file of [...ticked]) if (!files.has(file)) tick(file, false);
      state.textContent = found.runs.length === 0
        ? (filters().length === 0 ? "There are no runs here yet; `plimsoll run URL` makes one." : "No run matches.")
        : counted(found.runs.length, "run");
    } catch (error) {
      if (own === newest) state.textContent = (error as Error).message;
    }
  };
  const typed = (event: Event): void => {
    event.preventDefault();
    history.replaceState(null, "", address("/", filters()));
    void load();
  };
  tick("", false);
  const form = h("form", { class: "filters", role: "search", input: typed, submit: typed }, ...inputs.map(([, , label]) => label));
  const heads = ["", "run", "target", "started", "tags", "requests/s", "p99", "limit"].map((name) =>
    name === "" ? h("td") : h("th", { scope: "col", class: /\/s|p99/.test(name) ? null : "text" }, name));
  const element = h("section", { id: "runs", "aria-labelledby": "runs-title" }, h("h1", { id: "runs-title" }, "Runs"), form, state, server,
    h("p", {}, compare),
    h("div", { class: "list", tabindex: 0, role: "region", "aria-label": "Runs" },
      h("table", {}, h("thead", {}, h("tr", {}, ...heads)), rows)), damaged);
  return {
    element, load,
    say: (text: string): void => { server.textContent = text; },
    filtersFromAddress: (): void => {
      for (const [name, input] of inputs) input.value = only(name)[0]?.[1] ?? "";
    },
  };
}

/** Lists the files without key figures: those damaged in part, which can be opened, and those that cannot be read at all. */
function unlisted(found: RunsDocument, go: (parameters: Parameters) => void): HTMLElement[] {
  const name = (one: UnreadableRunDocument): HTMLElement =>
    (one.damaged_in_part ? linkTo([["run", one.file]], {}, go, foreign(one.file)) : foreign(one.file));
  const list = (title: string, files: readonly UnreadableRunDocument[]): HTMLElement[] => (files.length === 0 ? [] : [
    h("h2", {}, title), h("ul", { class: "notices" }, ...files.map((one) => h("li", {}, name(one), ": ", foreign(one.reason))))]);
  return [...list("Runs that are damaged in part", found.unreadable.filter((one) => one.damaged_in_part)),
    ...list("Files that cannot be read", found.unreadable.filter((one) => !one.damaged_in_part))];
}
