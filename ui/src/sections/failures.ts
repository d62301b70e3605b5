// Requests without success, by name and by step; and the figures of each request of a plan with several.

import { allSteps, type Run, type StepDocument } from "../document";
import { fold, h, section } from "../dom";
import { atLeast, count, counted, grouped, milliseconds, rate, ratio } from "../format";
import { barsChart } from "../charts/bars";
import { figure } from "../charts/figure";
import { number, table, text } from "../table";
import { spaced } from "../words";

function add(into: Map<string, number>, counts: Record<string, number>, name: (key: string) => string | null): void {
  for (const [key, value] of Object.entries(counts)) {
    const shown = name(key);
    if (shown !== null && value > 0) into.set(shown, (into.get(shown) ?? 0) + value);
  }
}

/** Names a status that is no success, else returns null. The plan decides which statuses are a success; the document lists the others. */
const statusName = (unwanted: readonly number[]) => (status: string): string | null => {
  const code = Number(status);
  if (!unwanted.includes(code)) return null;
  return code === 0 ? "status outside 100 to 599" : `status ${status}`;
};

function failuresOf(steps: readonly StepDocument[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const step of steps) {
    add(counts, step.failed, spaced);
    add(counts, step.status, statusName(step.unwanted_status));
    add(counts, step.failed_checks, (check) => `check failed: ${check}`);
  }
  return new Map([...counts].sort((a, b) => b[1] - a[1]));
}

const ended = (step: StepDocument): number => step.completed + Object.values(step.failed).reduce((sum, one) => sum + one, 0);

export function failures(run: Run): HTMLElement {
  const steps = allSteps(run);
  const all = steps.reduce((sum, step) => sum + ended(step), 0);
  const counts = failuresOf(steps);
  const overloaded = inOverloads(run);
  if (counts.size === 0) {
    const where = overloaded === null ? "None" : "None in the steps before the overloads";
    return section("failures", "Failures",
      all === 0 && overloaded !== null ? null
        : h("p", {}, all === 0 ? "No request ended." : `${where}: all ${grouped(all)} requests of ${counted(steps.length, "step")} succeeded.`),
      overloaded, requests(run));
  }
  const names = [...counts];
  const model = {
    name: "failures", title: "Requests without success",
    caption: `${names[0]?.[0] ?? ""} is the most frequent: ${grouped(names[0]?.[1] ?? 0)} of ${grouped(all)} requests.`,
    groups: [{ title: "", bars: names.map(([name, value]) => ({
      label: name, part: all === 0 ? null : value / all, value: `${grouped(value)} (${ratio(value / Math.max(all, 1))})`,
    })) }],
    table: {
      columns: [text("what"), number("requests"), number("of all"), text("steps")], count: names.length,
      row: (index: number) => {
        const [name, value] = names[index] ?? ["", 0];
        const where = steps.filter((step) => failuresOf([step]).has(name)).map(load);
        return [name, grouped(value), ratio(value / Math.max(all, 1)), where.join("; ")];
      },
    },
  };
  return section("failures", "Failures", figure(barsChart, model).element, overloaded, requests(run));
}

/** Says how many requests of the overloads ended without success; null for a run without an overload. */
function inOverloads(run: Run): HTMLElement | null {
  const steps = run.document.overload?.steps ?? [];
  if (steps.length === 0) return null;
  const bad = steps.reduce((sum, { whole }) => Object.values(whole.failed).reduce((one, other) => one + other, sum + whole.refused), 0);
  return h("p", { class: "overloaded" }, `While the target was overloaded, ${bad === 0 ? "no request" : counted(bad, "request")} ended without success. `,
    h("a", { href: "#overload" }, "Overload"), " has them by load.");
}

function load(step: StepDocument): string {
  return step.rate_per_sec === null ? counted(step.connections, "connection") : `${count(step.rate_per_sec)} requests/s`;
}

function requests(run: Run): HTMLElement | null {
  const rows = run.document.steps.flatMap((step) => step.requests.map((request) => [
    load(step), request.name, atLeast(rate, request.throughput_per_sec, step.lower_bound), ratio(request.success_ratio),
    milliseconds(request.latency_ms.mean), milliseconds(request.latency_ms.p50), milliseconds(request.latency_ms.p99)]));
  if (rows.length === 0) return null;
  return fold("Each request of the plan", table("Each request of the plan", {
    columns: [text("step"), text("request"), number("throughput"), number("success"), number("mean"), number("p50"), number("p99")],
    count: rows.length, row: (index) => rows[index] ?? [],
  }));
}
