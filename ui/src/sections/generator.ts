// The load generator's check of itself.

import type { Run } from "../document";
import { facts, foreign, h, section } from "../dom";
import { count, milliseconds, NOT_KNOWN, rate, seconds, share, whole } from "../format";
import { number, table } from "../table";

export function generator(run: Run): HTMLElement {
  const { generator: own } = run.document;
  const { machine, send_lag_ms: lag } = own;
  const verdict = !own.judged ? "Not known: the measured time is too short for the check."
    : own.healthy ? "✔ The generator did not hold the load back." : "✘ The generator held the load back: throughput is a lower bound.";
  return section("generator", "The load generator",
    h("p", { class: own.judged && !own.healthy ? "bad" : null }, verdict),
    own.causes.length === 0 ? null : h("ul", {}, ...own.causes.map((cause) =>
      h("li", {}, foreign(cause.what), ". ", h("b", {}, "To fix: "), foreign(cause.remedy), "."))),
    facts([
      ["Busiest worker", `${share(own.busiest_worker_ratio)} of a core`],
      ["Ready without a CPU", share(own.starved_ratio)],
      ["Stalled", share(own.stalled_ratio)],
      ["Requests left late", `p50 ${milliseconds(lag.p50)}, p99 ${milliseconds(lag.p99)} (bound ${milliseconds(lag.bound)})`],
      ["Little's law, error", share(own.littles_law_error)],
      ["CPU time", own.cpu_sec === null ? NOT_KNOWN : `${seconds(own.cpu_sec)}, of it ${seconds(own.kernel_sec)} in the kernel`],
      ["Driver", foreign(own.driver)],
      ["Segments retransmitted", `${whole(machine.segments_retransmitted)} of ${whole(machine.segments_sent)}`],
      ["Descriptors open", `${whole(machine.descriptors_open)} of ${whole(machine.descriptors_limit)}`],
      ["CPU stolen by other guests", share(machine.stolen_ratio)],
      own.ceiling === null ? null : ["Maximum of one worker",
        `${own.ceiling.known ? "" : "at least "}${rate(own.ceiling.ceiling_per_sec)}; in this run ${count(own.ceiling.per_worker_per_sec)}`],
    ]),
    own.by_worker.length < 2 ? null : table("Workers", {
      columns: ["worker", "CPU", "in the kernel", "ready without a CPU", "stalled"].map(number),
      count: own.by_worker.length,
      row: (index) => {
        const one = own.by_worker[index];
        return one === undefined ? [] : [String(one.worker), share(one.cpu_ratio), share(one.kernel_ratio), share(one.starved_ratio), share(one.stalled_ratio)];
      },
    }));
}
