// Which run of a page is shown, as a part of its address: links, a reload and Back lead to it.

const PART = /^#run-(\d+)$/;

/** The part of the address of a page that shows this run. */
export const runPart = (index: number): string => `#run-${index}`;

/** Whether the address asks for a run, and not for a part of one. */
export const asksForRun = (): boolean => PART.test(location.hash);

/** The run that such a part names; NaN for another part. */
export const runOfPart = (part: string): number => Number(PART.exec(part)?.[1] ?? NaN);

/** True for a click that opens another tab or window, which is left to the browser. */
export const opensElsewhere = (event: MouseEvent): boolean => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;

/** The run of this entry of the history, or of the address where the entry is new; null where neither names one of so many. -1 is none of them. */
export function runOfAddress(runs: number): number | null {
  const { run } = (history.state ?? {}) as { run?: unknown };
  const named = typeof run === "number" ? run : runOfPart(location.hash);
  return named >= -1 && named < runs ? named : null;
}

/** Notes the run in this entry of the history: a jump to a part of the run makes an entry that does not name it. */
export function noteRun(index: number): void {
  history.replaceState({ run: index }, "");
}
