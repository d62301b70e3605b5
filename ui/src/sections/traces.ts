// Requests with a trace id that are worth a look: the slowest of each step, and the first without success.

import type { Run } from "../document";
import { h, section } from "../dom";
import { milliseconds } from "../format";
import { number, table, text } from "../table";
import { spaced } from "../words";

type StepTraces = Run["document"]["traces"][number];
type Trace = StepTraces["slowest"][number];

function result(trace: Trace): string {
  return trace.status === null ? spaced(trace.failure ?? "") : String(trace.status);
}

function rows(steps: readonly StepTraces[], kept: (step: StepTraces) => readonly Trace[]): HTMLElement | null {
  const cells = steps.flatMap((step) => kept(step).map((trace) => [
    String(step.step + 1), trace.sent_sec?.toFixed(3) ?? "?", milliseconds(trace.latency_ms), result(trace), trace.trace_id]));
  const name = kept === slowest ? "The slowest of each step" : "The first of each step without success";
  return cells.length === 0 ? null : h("div", {}, h("h3", {}, name), table(name, {
    columns: [number("step"), number("sent after, s"), number("latency"), text("result"), text("trace id")],
    count: cells.length, row: (index) => cells[index] ?? [],
  }));
}

const slowest = (step: StepTraces): readonly Trace[] => step.slowest;
const unsuccessful = (step: StepTraces): readonly Trace[] => step.unsuccessful;

export function traces(run: Run): HTMLElement | null {
  const steps = run.document.traces;
  if (steps.length === 0) return null;
  return section("traces", "Traces",
    h("p", {}, "Requests that carried a traceparent header. Look their ids up in the tracing system of the target."),
    rows(steps, slowest), rows(steps, unsuccessful));
}
