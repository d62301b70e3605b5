// Where the CPU time of the run went.

import type { Run } from "../document";
import { section } from "../dom";
import { flame as flameFigure } from "../together/flames";

export function flame(run: Run): HTMLElement | null {
  return run.flame === null ? null : section("cpu", "CPU time", flameFigure("cpu", "Flame graph of a request", run.flame));
}
