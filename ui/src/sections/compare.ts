// Several runs side by side: their headline figures, and links to each.

import { headline, type PageDocument } from "../document";
import { foreign, h, section } from "../dom";
import { count, date, milliseconds, ratio } from "../format";
import { runPart } from "../route";
import { judgedStep } from "../slo";
import { number, table, text } from "../table";
import { certainty, limitAt } from "../words";

export function compare(page: PageDocument): HTMLElement {
  const { runs } = page;
  return section("compare", "Runs", table("Headline figures of each run", {
    columns: [text("run"), text("started"), text("target"), number("requests/s"), number("p50"), number("p99"), number("success"), text("limit"), text("confidence")],
    count: runs.length,
    row: (index) => {
      const run = runs[index];
      if (run === undefined) return [];
      const { perSec, bound } = headline(run);
      const step = judgedStep(run);
      const { verdict } = run.document;
      const link = h("a", { href: runPart(index) }, foreign(run.name));
      return [link, h("span", { class: "nowrap" }, date(run.document.run.started_unix_ms)), run.target, `${bound}${count(perSec)}`,
        milliseconds(step?.latency_ms.p50), milliseconds(step?.latency_ms.p99), ratio(step?.success_ratio),
        limitAt(verdict.limit, verdict.where),
        certainty(verdict).split(":")[0] ?? ""];
    },
  }));
}
