// The evidence of the verdict, each line with a link to the part of the page that shows it.

import type { Run } from "../document";
import { foreign, h, section } from "../dom";
import { count, inUnit, rate } from "../format";
import type { EvidenceDocument } from "../generated/page";
import { number, table, text } from "../table";
import { confidence, limitName } from "../words";

export function evidence(run: Run): HTMLElement {
  const { verdict } = run.document;
  const { evidence: list, excluded, next_limit: next, proof } = verdict;
  return section("evidence", "Evidence",
    h("p", {}, `Confidence: ${confidence(verdict.confidence).replace(": ", " (")}${verdict.confidence === "unknown" ? "" : ")"}.`),
    list.length === 0 ? h("p", {}, "No evidence was recorded.") : table("Evidence of the verdict", {
      columns: [text("observation"), number("value"), number("of"), text("at"), text("shown in")],
      count: list.length,
      row: (index) => {
        const one = list[index];
        return one === undefined ? [] : [one.what, inUnit(one.unit)(one.value), one.of === null ? "" : inUnit(one.unit)(one.of), one.at, link(run, one)];
      },
    }),
    proof === null ? null : h("p", {}, `The cap on ${proof.cap.replaceAll("_", " ")} of `, foreign(proof.host),
      ` was raised from ${count(proof.before)} to ${count(proof.after)} `, foreign(proof.unit),
      `: throughput went from ${rate(proof.before_per_sec)} to ${rate(proof.after_per_sec)}. Outcome: ${proof.outcome}.`),
    next === null ? null : h("p", {}, `The next limit is ${limitName(next.limit)} of `, foreign(next.where),
      `, at ${rate(next.at_per_sec)}.`),
    excluded.length === 0 ? null : h("h3", { class: "part" }, "What is not the limit"),
    excluded.length === 0 ? null : h("ul", {}, ...excluded.map((one) => h("li", {}, foreign(one)))));
}

function link(run: Run, one: EvidenceDocument): HTMLElement {
  const to = (id: string, label: string): HTMLElement => h("a", { href: `#${id}` }, label);
  const { document: recorded } = run;
  const connected = recorded.steps.filter((step) => step.rate_per_sec === null).length > 1;
  if (/generator|worker|send lag|left late/i.test(one.what)) return to("generator", "The load generator");
  if (/respons|failed|status|refused|closed before/i.test(one.what)) return to("failures", "Failures");
  if (/plateau|gain|knee|throughput|requests\/s/i.test(one.what)) return connected ? to("chart-ladder-throughput", "Throughput") : to("steps", "Figures");
  if (/latency|time of a request/i.test(one.what)) return connected ? to("chart-ladder-latency", "Latency") : to("steps", "Figures");
  if (recorded.hosts.length > 0) return to("chart-hosts", "Use of resources");
  return to("steps", "Figures");
}
