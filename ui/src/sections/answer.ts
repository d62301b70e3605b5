// The answer: the throughput, its conditions, how certain it is, and what limits it.

import { figure } from "../charts/figure";
import { intervalChart, type IntervalModel } from "../charts/interval";
import { allSteps, bestStep, headline, lead, underWay, type Run } from "../document";
import { type Child, foreign, h } from "../dom";
import { capital, count, date, grouped, joined, rate, sentence } from "../format";
import { copy, markdown } from "../markdown";
import { conditions, sign } from "../slo";
import { number, text } from "../table";
import { certainty as certaintyOf, limitAt, outcome } from "../words";

export function answer(run: Run): HTMLElement {
  const { perSec, bound, what } = headline(run);
  const model = certainty(run);
  const status = h("span", { class: "status", role: "status" });
  const button = h("button", {
    type: "button",
    click: async () => { status.textContent = await copy(markdown(run)) ? "Copied." : "The browser did not allow it."; },
  }, "Copy as Markdown");
  return h("section", { id: "answer", "aria-labelledby": "answer-title" },
    h("p", { class: "eyebrow" }, foreign(run.name), " · ", date(run.document.run.started_unix_ms)),
    h("h1", { id: "answer-title" }, foreign(run.target)),
    perSec === null
      ? h("p", { class: "headline unknown" }, nothingHeld(run))
      : h("p", { class: "headline" }, bound.replace(/^a/, "A"), h("strong", {}, count(perSec)), ` requests/s ${what}`),
    h("p", { class: "lead" }, foreign(joined(withoutTarget(lead(run), run.target)))),
    conditionList(run),
    model === null ? null : figure(intervalChart, model).element,
    verdictLine(run),
    notices(run),
    h("p", { class: "actions" }, button, status));
}

/** Says why there is no figure, as far as the run shows. */
function nothingHeld(run: Run): string {
  const { steps } = run.document;
  if (steps.length === 0) return underWay(run) ? "Nothing is measured yet" : "Nothing was measured";
  return steps.some((step) => step.ok > 0) ? "No throughput within the conditions is known" : "No request succeeded";
}

/** Removes the target from a sentence, because the heading shows it. */
function withoutTarget(sentence: string, target: string): string {
  const rest = sentence.startsWith(target) ? sentence.slice(target.length).replace(/^[\s:]+/, "") : sentence;
  if (rest === "") return sentence;
  // Text after a colon is a sentence of its own. The text report omits the colon if the target stands on a line of its own.
  if (sentence.startsWith(`${target}:`) || /^(nothing|all|the only) /.test(rest)) return capital(rest);
  return `It ${rest}`.replace(/^It (?=[A-Z])/, "");
}

function conditionList(run: Run): Child {
  const list = conditions(run);
  if (list.length === 0) return null;
  return h("ul", { class: "conditions" }, ...list.map((one) => {
    const { mark, word } = sign(one.held);
    return h("li", { class: word.replace(" ", "-") },
      h("span", { class: "mark", "aria-hidden": "true" }, mark), " ", one.text, h("span", { class: "word" }, ` ${word}`));
  }));
}

/** The interval of the answer; null if there is none to draw. */
function certainty(run: Run): IntervalModel | null {
  const { search } = run.document;
  const found = search !== null && search.held_per_sec !== null && search.broken_per_sec !== null;
  const trials = search?.trials ?? [];
  const table = {
    columns: [text("what"), number("requests/s")],
    count: 0,
    row: (): string[] => [],
  };
  if (found) {
    const [low, high] = [search.held_per_sec ?? 0, search.broken_per_sec ?? 0];
    const rows = trials.map((trial) => [outcome(trial.outcome), count(trial.step.rate_per_sec)]);
    return {
      name: "certainty", title: "How certain it is", low, high, value: low,
      lowLabel: "held", highLabel: "broken",
      caption: `The highest rate that held is ${rate(low)}; the lowest above it that broke a condition is ${rate(high)}. `
        + "The maximum lies between them.",
      dots: trials.filter((trial) => trial.step.rate_per_sec !== null && trial.outcome !== "generator_limited").map((trial) => ({
        at: trial.step.rate_per_sec ?? 0, good: trial.outcome === "held" ? true : trial.outcome === "broken" ? false : null,
      })),
      table: { ...table, count: rows.length, row: (index) => rows[index] ?? [] },
    };
  }
  const step = bestStep(run);
  const value = run.headline.per_sec;
  // Draw the interval of the step only if the answer is the exact figure of that step. A lower bound has no interval.
  if (!step?.throughput_interval || value === null || step.throughput_per_sec !== value || run.headline.bound !== "exact") return null;
  const pair = step.throughput_interval;
  const rows = [["lower end", count(pair[0])], ["measured", count(value)], ["upper end", count(pair[1])]];
  return {
    name: "certainty", title: "How certain it is", low: pair[0], high: pair[1], value,
    lowLabel: "", highLabel: "", dots: [],
    caption: `${rate(value)}, with a 95 % interval from ${count(pair[0])} to ${rate(pair[1])}.`,
    table: { ...table, count: rows.length, row: (index) => rows[index] ?? [] },
  };
}

function verdictLine(run: Run): HTMLElement {
  const { verdict } = run.document;
  const unknown = verdict.limit === "unknown" || verdict.confidence === "unknown";
  return h("div", { class: unknown ? "verdict unknown" : "verdict" },
    h("p", { class: "what" }, h("span", { class: "tag" }, "limit"), " ",
      unknown ? "not known" : foreign(limitAt(verdict.limit, verdict.where)),
      unknown ? null : h("span", { class: "note" }, ` ${certaintyOf(verdict)}`)),
    verdict.text === "" ? null : h("p", {}, foreign(joined(capital(verdict.text)))),
    ...verdict.advice.map((advice) => h("p", {}, h("b", {}, "Next: "), foreign(joined(sentence(advice))))));
}

/** What a reader must know before the figures: an interruption, damage, failures, a generator at its limit. */
function notices(run: Run): Child {
  const { damage, generator, run: recorded, steps, steps_not_run: notRun } = run.document;
  const list: string[] = [];
  if (underWay(run)) list.push("The run goes on: the answer may change.");
  else if (!recorded.sealed) list.push("The run was interrupted. The page shows what was recorded until then.");
  for (const one of damage) list.push(`The run file is damaged: ${one}`);
  if (steps.length === 0 && !underWay(run)) list.push("No step was measured.");
  if (notRun.length > 0) list.push(`These steps were not run: ${notRun.map(grouped).join(", ")} connections.`);
  const all = allSteps(run);
  const ended = all.reduce((sum, step) => sum + step.completed + total(step.failed), 0);
  const bad = ended - all.reduce((sum, step) => sum + step.ok, 0);
  if (bad > 0) list.push(`${grouped(bad)} of ${grouped(ended)} requests ended without success; see Failures.`);
  if (!generator.healthy) list.push(`The load generator was held back: ${generator.reasons.join("; ")}.`);
  return list.length === 0 ? null : h("ul", { class: "notices" }, ...list.map((one) => h("li", {}, foreign(one))));
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
