// The answer and the ladder as Markdown, for an issue or a chat.

import { bestStep, headline, ladder, lead, type Run } from "./document";
import { atLeast, count, milliseconds, rate, ratio, whole } from "./format";
import { conditions, sign } from "./slo";
import { visible } from "./dom";

/** Escapes the Markdown syntax in text that the page did not write. */
function plain(text: string): string {
  return visible(text).replace(/[\\`*_{}[\]<>|#~]/g, (mark) => `\\${mark}`).replaceAll("\n", " ");
}

export function markdown(run: Run): string {
  const { verdict, tool } = run.document;
  const best = bestStep(run);
  const { perSec, bound } = headline(run);
  const lines = [`## ${plain(run.name)}: ${bound}${rate(perSec)}`, "", plain(lead(run)), ""];
  for (const one of conditions(run)) lines.push(`- ${sign(one.held).mark} ${one.text}`);
  if (verdict.text !== "") lines.push("", `**Limit:** ${plain(verdict.text)}`);
  for (const advice of verdict.advice) lines.push("", `**Next:** ${plain(advice)}`);
  const steps = ladder(run);
  if (steps.length > 0) {
    lines.push("", "| connections | requests/s | mean | p50 | p99 | success | |", "| ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for (const step of steps) {
      const { mean, p50, p99 } = step.latency_ms;
      const cells = [whole(step.connections), atLeast(count, step.throughput_per_sec, step.lower_bound), milliseconds(mean), milliseconds(p50),
        milliseconds(p99), ratio(step.success_ratio), step === best ? "best" : ""];
      lines.push(`| ${cells.join(" | ")} |`);
    }
  }
  lines.push("", `Measured with ${tool.name} ${tool.version}.`, "");
  return lines.join("\n");
}

/** Copies a text. A page from disk may not use the clipboard API, so this falls back to a selection. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
