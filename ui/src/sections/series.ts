// The series over time that show the evidence.

import type { Run } from "../document";
import type { CurveDocument, EvidenceDocument, ResourceOverTimeDocument } from "../generated/page";
import { mean } from "./hostline";

/** The use of a resource, or a curve. */
export type Series = ResourceOverTimeDocument | CurveDocument;

const kindOf = (one: Series): string => ("resource" in one ? one.resource : one.kind);
const valuesOf = (one: Series): readonly (number | null)[] => ("resource" in one ? one.used : one.values);

/** Returns the series of the first listed kind that the page has, with the highest mean if several match; null if it has none. */
export function seriesOf(run: Run, evidence: EvidenceDocument): Series | null {
  const all: Series[] = [...run.timeline.resources, ...run.timeline.curves];
  for (const wanted of evidence.series) {
    const [best] = all
      .filter((one) => one.host === wanted.host && kindOf(one) === wanted.kind && (wanted.of === null || one.of === wanted.of))
      .sort((a, b) => mean(valuesOf(b)) - mean(valuesOf(a)));
    if (best !== undefined) return best;
  }
  return null;
}

/** Returns all series that the evidence of the verdict links to. Charts draw these first. */
export function inEvidence(run: Run): Set<Series> {
  return new Set(run.document.verdict.evidence.flatMap((one) => seriesOf(run, one) ?? []));
}
