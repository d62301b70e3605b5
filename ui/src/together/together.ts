// The result of several runs, or of tables.

import type { PageDocument } from "../document";
import { fold, foreign, h } from "../dom";
import { counted } from "../format";
import { runPart } from "../route";
import { ab } from "./ab";
import { comparison, diff } from "./diff";
import { lab } from "./lab";
import { fleet, machines } from "./machines";
import { switches } from "./switches";
import { tiers } from "./tiers";

/** Returns the part above the runs; null on a page of runs alone. */
export function together(page: PageDocument): HTMLElement | null {
  const said = page.together;
  if (said === null) return null;
  const link = (name: string): Node | string => {
    const index = page.runs.findIndex((run) => run.name === name);
    return index < 0 ? name : h("a", { href: runPart(index) }, foreign(name));
  };
  const { found } = said;
  const sections = "diff" in found ? diff(found.diff, page.runs)
    : "runs" in found ? [comparison(found.runs, page.runs, "compared")]
    : "ab" in found ? ab(found.ab)
    : "lab" in found ? lab(found.lab, page.runs, link)
    : "tiers" in found ? [tiers(found.tiers, link)]
    : "switches" in found ? [switches(found.switches)]
    : "machines" in found ? [machines(found.machines)] : [fleet(found.fleet)];
  const left = said.runs_left_out;
  return h("div", { class: "together" }, h("h1", {}, foreign(said.name)), ...sections,
    left === 0 ? null : h("p", { class: "note" }, `The page has the first ${counted(page.runs.length, "run")}; ${counted(left, "more run")} are in their run files.`),
    fold("The answer as text", h("pre", { tabindex: 0 }, foreign(said.text))));
}
