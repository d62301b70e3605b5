// How the target behaves when more load is offered than it holds.

import { barsChart } from "../charts/bars";
import { figure } from "../charts/figure";
import { lineChart } from "../charts/line";
import type { Run } from "../document";
import { h, section } from "../dom";
import { count, instant, interval, milliseconds, NOT_KNOWN, overloadOf, rate, rateAtMost, ratio, seconds, share, whole } from "../format";
import type { OverloadDocument, OverloadStepDocument } from "../generated/page";
import type { TimeLink } from "../link";
import { number, text } from "../table";
import { overloadClass, rampEffect, spaced } from "../words";

export function overload(run: Run, link: TimeLink): HTMLElement | null {
  const found = run.document.overload;
  if (found === null) return null;
  const doubt = found.doubt === null ? "" : ` The reason: ${spaced(found.doubt)}.`;
  const protection = found.protection;
  return section("overload", "Overload",
    h("p", {}, `Under overload the target ${found.class === "unknown" ? "was not judged" : overloadClass(found.class)}`
      + `${found.by_ladder ? ": the ladder was the overload" : ""}`
      + `${found.at_factor === null ? "" : `, ${found.class === "graceful" ? "up to" : "first at"} ${overloadOf(found.at_factor)} the rate of ${rate(found.rate_per_sec)}`}.`
      + `${went(found)}${doubt}`),
    // Where nothing was measured there is nothing to draw: the sentence above says why.
    found.steps.length === 0 && found.reference === null ? null : figure(barsChart, goodput(found)).element,
    found.steps.length === 0 ? null : figure(lineChart, overTime(run, found, link)).element,
    found.ramp === null ? null : h("p", {}, rampEffect(found.ramp)),
    protection === null ? null : h("p", {}, h("b", {}, found.ramp === "keeps_up" ? "To protect it from a jump: " : "To protect it: "),
      `let in at most ${rateAtMost(protection.rate_per_sec)} and ${whole(protection.concurrency)} at a time, `
      + `with bursts of ${whole(protection.burst)}, and refuse the rest at once.`));
}

/** Says that the target refused connections in an overload; empty if it did not. */
function went(found: OverloadDocument): string {
  const lost = found.steps.find((step) => step.lost_after_sec !== null);
  return lost === undefined ? "" : ` At ${name(lost)} it went away ${seconds(lost.lost_after_sec)} after the overload began: connections were refused.`;
}

const name = (step: OverloadStepDocument): string => overloadOf(step.factor, step.onset);

function back(step: OverloadStepDocument): string {
  if (step.back_after_sec !== null) return step.back_after_sec === 0 ? "at once" : `after ${seconds(step.back_after_sec)}`;
  return step.not_back_within_sec === null ? NOT_KNOWN : `not in ${seconds(step.not_back_within_sec)}`;
}

function goodput(found: OverloadDocument) {
  const phases = [
    ...(found.reference ? [{ name: "1×", phase: found.reference, all: found.reference, step: null }] : []),
    ...found.steps.map((step) => ({ name: name(step), phase: step.settled, all: step.whole, step })),
  ];
  const max = Math.max(1, ...phases.flatMap(({ phase }) => [phase.offered_per_sec ?? 0, phase.goodput_per_sec ?? 0]));
  const worst = found.steps.reduce<OverloadStepDocument | null>((low, step) =>
    step.kept !== null && step.kept < (low?.kept ?? Infinity) ? step : low, null);
  const within = (found.limit_ms === null ? "Every success counts." : `Goodput counts the successes within ${milliseconds(found.limit_ms)}.`)
    + (found.steps.length === 0 ? "" : " Rates and p99 are of the second half of each overload; late, refused and failed requests are counted in all of it.");
  return {
    name: "overload-goodput", title: "Goodput of the offered load",
    caption: worst === null ? `What is left of goodput is not known. ${within}`
      : `At ${overloadOf(worst.factor)} the rate${worst.onset === "ramp" ? ", in a ramp" : ""}, ${share(worst.kept)} of the goodput is left. ${within} The mark is the offered rate.`,
    groups: [{ title: "", bars: phases.map(({ name, phase, step }) => ({
      label: name, part: phase.goodput_per_sec === null ? null : phase.goodput_per_sec / max,
      mark: phase.offered_per_sec === null ? null : phase.offered_per_sec / max,
      value: `${count(phase.goodput_per_sec)} of ${rate(phase.offered_per_sec)}`,
      accent: step !== null && step.outcome === "lost",
    })) }],
    table: {
      columns: [text("load"), number("offered"), number("goodput"), number("95 % interval"), number("left"), number("late"), number("refused"),
        number("failed"), number("p99"), text("back")],
      count: phases.length,
      row: (index: number) => {
        const one = phases[index];
        if (one === undefined) return [];
      // As in the text report, rates are those of the second half; failures count over the whole overload, as in Failures.
        const { phase, all, step } = one;
        const failed = Object.values(all.failed).reduce((sum, value) => sum + value, 0);
        return [one.name, rate(phase.offered_per_sec), rate(phase.goodput_per_sec), interval(phase.goodput_interval, count),
          step !== null ? share(step.kept) : found.reference_doubt === null ? ratio(1) : NOT_KNOWN, whole(all.late), whole(all.refused), whole(failed),
          milliseconds(phase.p99_ms), step === null ? "" : back(step)];
      },
    },
  };
}

/** The goodput of all overloads on the time axis of the run. */
function overTime(run: Run, found: OverloadDocument, link: TimeLink) {
  const spans = found.steps.map((step) => run.timeline.steps.find((span) => span.index === step.index));
  const x: number[] = [];
  const good: (number | null)[] = [];
  const due: (number | null)[] = [];
  const answered: (number | null)[] = [];
  found.steps.forEach((step, index) => {
    const began = spans[index]?.began_sec ?? x[x.length - 1] ?? 0;
    for (const moment of step.over_time) {
      if (moment.at_sec === null) continue;
      x.push(began + moment.at_sec);
      good.push(moment.goodput_per_sec);
      due.push(moment.due_per_sec);
      answered.push(moment.answered_per_sec);
    }
    const end = x[x.length - 1];
    if (end === undefined) return;
    // A gap, so that no line joins two overloads.
    x.push(end + 0.001);
    for (const values of [good, due, answered]) values.push(null);
  });
  const rows = x.map((at, index) => [at, due[index], good[index], answered[index]] as const).filter((row) => row[1] !== null);
  const backs = found.steps.map((step) => `${name(step)} ${back(step)}`).join(", ");
  return {
    name: "overload-time", title: "Goodput over time", link, x, xFormat: instant, xLabel: "time", format: rate, tickFormat: count,
    caption: backs === "" ? "No overload was measured." : `Back after the overload: ${backs}.`,
    series: [
      { label: "offered", values: due, colour: "--soft", dash: true },
      { label: "answered", values: answered, colour: "--teal" },
      { label: "goodput", values: good, colour: "--blue", width: 2, fill: true },
    ],
    bands: found.steps.flatMap((step, index) => {
      const span = spans[index];
      return span === undefined ? [] : [{ from: span.began_sec ?? 0, to: span.drained_sec ?? span.ended_sec ?? 0, label: name(step) }];
    }),
    table: {
      columns: [number("time"), number("offered"), number("goodput"), number("answered")], count: rows.length,
      row: (index: number) => {
        const row = rows[index];
        return row === undefined ? [] : [instant(row[0]), rate(row[1]), rate(row[2]), rate(row[3])];
      },
    },
  };
}

