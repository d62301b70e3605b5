// Counts what stays registered outside the elements of the page, as attributes of <html> for tests. The counts must not grow on a page
// that is updated for hours.

const counts = { figures: 0, plots: 0, listeners: 0 };

/** Counts one more (1) or one fewer (-1). */
export function alive(kind: keyof typeof counts, by: 1 | -1): void {
  counts[kind] += by;
  document.documentElement.dataset[kind] = String(counts[kind]);
}
