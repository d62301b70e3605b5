// How the figures were measured, and how to reproduce them.

import type { Run } from "../document";
import { facts, fold, foreign, h, section } from "../dom";
import { bytes, date, grouped, milliseconds, whole } from "../format";

const METHOD: [string, string][] = [
  ["Latency", "The time from the instant at which a request was due to the last byte of its response. Where requests are due by a "
    + "schedule, the wait for a free connection counts. The service time begins when the request is sent."],
  ["Closed loop", "A fixed number of connections, each of which sends its next request when it has its response. A slow target slows "
    + "the load down. The ladder is a closed loop with rising numbers of connections."],
  ["Open loop", "Requests are due at random instants at a given rate, whether or not earlier ones are answered, as users arrive. The "
    + "search looks for the highest such rate at which the conditions hold."],
  ["Warm-up", "The first part of a step, until throughput settles, is left out. A step that did not settle is marked."],
  ["Interval", "The range that contains the true value in 95 % of such runs. It comes from the scatter within the step. Of a search, the "
    + "interval reaches from the highest rate that held to the lowest that did not."],
  ["Plateau and knee", "The plateau is the highest throughput of the ladder if the next step gains less than 5 %. The knee is the smallest "
    + "number of connections within 5 % of it: more connections only wait."],
  ["The limit", "Hosts are sampled while the load is on. A resource is the limit if it is used up, its use grows with the requests, and the "
    + "throughput stops there. \"Measured\" means that this was observed, \"likely\" that it follows from what else was excluded, and "
    + "\"proven\" that more of the resource gave more throughput as predicted."],
  ["Not known", "What was not sampled, or rests on too few requests, is not known. It is never shown as zero."],
];

/** Whether a part of a command line is hidden, so that the line cannot be repeated as it stands. */
const hidden = (line: string | null): boolean => line !== null && (line.includes("…") || line.includes("(hidden)"));

export function method(run: Run): HTMLElement {
  return section("method", "Method and reproduction",
    fold("How this was measured", h("dl", { class: "method" },
      ...METHOD.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]))),
    reproduce(run), fold("The report as text", h("pre", { tabindex: 0 }, foreign(run.text))));
}

function reproduce(run: Run): HTMLElement {
  const { machine, plan, preflight, run: recorded, tool } = run.document;
  const tls = recorded.tls;
  return fold("How to reproduce it",
    facts([
      ["Version", foreign(`${tool.name} ${tool.version}`)],
      ["Command", recorded.command_line === null ? "not recorded" : h("code", {}, foreign(recorded.command_line))],
      hidden(recorded.command_line) ? ["Hidden", "… stands for logins and values of queries, (hidden) for bodies and secret headers"] : null,
      ["Target", h("code", {}, foreign(run.target))],
      ["Started", date(recorded.started_unix_ms)],
      ["Machine", foreign(`${machine.hostname}, ${grouped(machine.cores)} cores, ${machine.architecture}, ${machine.kernel}`)],
      ["Protocol", foreign(recorded.protocol)],
      tls === null ? null : ["TLS", foreign(`${tls.version}, ${tls.cipher}${tls.verified ? "" : ", certificate not verified"}`)],
      ["Address", foreign(`${preflight.address}${preflight.local ? " (this machine)" : ""}`)],
      ["Connect", milliseconds(preflight.connect_ms)],
      preflight.first_answer === null ? null : ["First response",
        `status ${preflight.first_answer.status}, ${bytes(preflight.first_answer.body_bytes)}, ${milliseconds(preflight.first_answer.service_ms)}`],
      ["Descriptors, ports", `${whole(machine.descriptors)}, ${whole(machine.ports)}`],
      ["Plan hash", h("code", {}, foreign(recorded.plan_hash))],
    ]),
    h("h4", {}, "Plan"), h("pre", { tabindex: 0 }, JSON.stringify(plan, null, 2)));
}
