// The evidence of the verdict, each line with a link to the part of the page that shows it.

import { ladder, type Run } from "../document";
import { foreign, h, section, visible } from "../dom";
import { inUnit, rate } from "../format";
import type { EvidenceDocument, ProofDocument } from "../generated/page";
import { number, table, text } from "../table";
import { certainty, curve, limitName, resource } from "../words";
import { chartOfCurve } from "./curves";
import { chartOfResource } from "./resources";
import { type Series, seriesOf } from "./series";

export function evidence(run: Run): HTMLElement {
  const { verdict } = run.document;
  const { evidence: list, excluded, next_limit: next, proof } = verdict;
  return section("evidence", "Evidence",
    h("p", {}, `Confidence: ${certainty(verdict).replace(/: (.*)$/, " ($1)")}.`),
    list.length === 0 ? h("p", {}, "No evidence was recorded.") : table("Evidence of the verdict", {
      columns: [text("observation"), number("value"), number("of"), text("at"), text("shown in")],
      count: list.length,
      row: (index) => {
        const one = list[index];
        return one === undefined ? [] : [one.what, inUnit(one.unit)(one.value), one.of === null ? "" : inUnit(one.unit)(one.of), one.at, link(run, one)];
      },
    }),
    proof === null ? null : h("p", {}, `The cap on ${proof.cap.replaceAll("_", " ")} of `, foreign(proof.host),
      ` was raised from ${capOf(proof, proof.before)} to ${capOf(proof, proof.after)}: throughput went from ${rate(proof.before_per_sec)} to ${rate(proof.after_per_sec)}. Outcome: ${proof.outcome}.`),
    next === null ? null : h("p", {}, `The next limit is ${limitName(next.limit)} of `, foreign(next.where),
      `, at ${rate(next.at_per_sec)}.`),
    excluded.length === 0 ? null : h("h3", { class: "part" }, "What is not the limit"),
    excluded.length === 0 ? null : h("ul", {}, ...excluded.map((one) => h("li", {}, foreign(one)))));
}

/** Formats a value of the cap that was raised. The lab counts cores in thousandths. */
const capOf = ({ unit }: ProofDocument, amount: number): string =>
  (unit === "cores_milli" ? inUnit("cores")(amount / 1000) : inUnit(unit)(amount));

interface Part { id: string; label: string; on: (run: Run) => boolean }

const always = (): boolean => true;
const hasLadder = (run: Run): boolean => ladder(run).length > 1;
const FIGURES: Part = { id: "steps", label: "Figures", on: (run) => run.document.steps.length > 0 };
const PARTS: Record<EvidenceDocument["shown_in"], Part | null> = {
  throughput: { id: "chart-ladder-throughput", label: "Throughput", on: hasLadder },
  latency: { id: "chart-ladder-latency", label: "Latency", on: hasLadder },
  steps: FIGURES,
  failures: { id: "failures", label: "Failures", on: always },
  generator: { id: "generator", label: "The load generator", on: always },
  path: { id: "chart-topology", label: "The path of a request", on: always },
  resources: { id: "chart-hosts", label: "Use of resources", on: (run) => run.document.hosts.length > 0 },
  curves: null,
};

/** Links an observation to the chart over time that has its series; else to the part that shows it, or to the figures of the steps. */
function link(run: Run, one: EvidenceDocument): string | HTMLElement {
  const series = seriesOf(run, one);
  if (series !== null) return toSeries(run, series);
  const own = PARTS[one.shown_in];
  const part = own === null ? undefined : [own, FIGURES].find(({ on }) => on(run));
  return part === undefined ? "not drawn" : h("a", { href: `#${part.id}` }, part.label);
}

function toSeries(run: Run, series: Series): HTMLElement {
  const [chart, label] = "resource" in series
    ? [chartOfResource(run, series), resource(series)] : [chartOfCurve(run, series), curve(series)];
  return h("a", { href: `#chart-${chart}`, "data-series": visible(label) }, foreign(label), " over time");
}
