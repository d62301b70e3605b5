// The runs of a plan file, and the conclusions from all of them together.

import type { Run } from "../document";
import { foreign, h, section } from "../dom";
import { count, milliseconds, whole } from "../format";
import type { LabRunDocument } from "../generated/page";
import { number, table, text } from "../table";
import { confidence, limitAt } from "../words";
import { comparison } from "./diff";
import { machines } from "./machines";
import { switches } from "./switches";
import { type Link, tiers } from "./tiers";

export function lab(found: LabRunDocument, runs: readonly Run[], link: Link): HTMLElement[] {
  const expects = found.runs.some((run) => run.right !== null);
  const own = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
  const cases = section("rows", "The runs", table("One row for each run", {
    columns: [text("run"), number("requests/s"), number("connections"), number("p99"), text("limit"), text("confidence"), ...(expects ? [text("as expected")] : [])],
    count: found.runs.length,
    row: (index) => {
      const run = found.runs[index];
      if (run === undefined) return [];
      const limit = run.found === null ? run.text : limitAt(run.found.limit, run.found.where ?? "");
      const bound = run.lower_bound === true ? "≥ " : "";
      return [link(own(run.name)), `${bound}${count(run.throughput_per_sec)}`, whole(run.connections), milliseconds(run.p99_ms), limit,
        run.confidence === null ? "" : confidence(run.confidence).split(":")[0] ?? "", ...(expects ? [run.right === null ? "" : run.right ? "yes" : "no"] : [])];
    },
  }), ...(found.conclusions ?? []).map((one) => h("p", {}, foreign(one))));
  return [cases, ...found.comparisons.map((one, index) => comparison(one, runs, `comparison-${index}`)),
    ...(found.tiers === null ? [] : [tiers(found.tiers, link)]), ...(found.machines === null ? [] : [machines(found.machines)]),
    ...(found.switches === null ? [] : [switches(found.switches)])];
}
