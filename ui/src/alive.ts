// Counts of what stays registered outside the elements of the page, as attributes of <html>: a page that is updated for hours must not
// gather them. Tests read them.

const counts = { figures: 0, plots: 0, listeners: 0 };

/** Notes that one more (1) or one fewer (-1) is there. */
export function alive(kind: keyof typeof counts, by: 1 | -1): void {
  counts[kind] += by;
  document.documentElement.dataset[kind] = String(counts[kind]);
}
