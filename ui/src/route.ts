// The run that the page shows, kept in the URL fragment so that links, a reload and Back lead to it.

const PART = /^#run-(\d+)$/;

/** Returns the URL fragment of a run. */
export const runPart = (index: number): string => `#run-${index}`;

/** Whether the URL fragment names a run, not a section of one. */
export const asksForRun = (): boolean => PART.test(location.hash);

/** Returns the index of the run that a fragment names; NaN for any other fragment. */
export const runOfPart = (part: string): number => Number(PART.exec(part)?.[1] ?? NaN);

/** Whether a click opens another tab or window; the browser handles it. */
export const opensElsewhere = (event: MouseEvent): boolean => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;

/** Returns the run of this history entry, else that of the URL: -1 for no run, null if neither names one of `runs` runs. */
export function runOfAddress(runs: number): number | null {
  const { run } = (history.state ?? {}) as { run?: unknown };
  const named = typeof run === "number" ? run : runOfPart(location.hash);
  return named >= -1 && named < runs ? named : null;
}

/** Stores the run in this history entry, because an entry made by a jump to a section does not name it. */
export function noteRun(index: number): void {
  history.replaceState({ run: index }, "");
}
