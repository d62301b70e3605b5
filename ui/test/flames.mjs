// Flame graphs in documents of tests: most runs have no profile.

/** A flame graph of boxes, each its depth, function and CPU time in µs, a box before those in it. */
export function flameOf(boxes) {
  const names = [...new Set(boxes.map(([, name]) => name))];
  const total = boxes.filter(([depth]) => depth === 0).reduce((sum, [, , us]) => sum + us, 0);
  return {
    names, function: boxes.map(([, name]) => names.indexOf(name)), depth: boxes.map(([depth]) => depth), us: boxes.map(([, , us]) => us),
    us_half: boxes.map(() => 1), total_us: total, total_us_interval: [total - 2, total + 2], seconds: 2, source: "test",
  };
}

export const OLD = flameOf([[0, "main", 100], [1, "serve", 90], [2, "parse", 40], [3, "copy", 20], [2, "log", 30], [3, "format", 25]]);
export const NEW = flameOf([[0, "main", 80], [1, "serve", 70], [2, "parse", 60], [3, "copy", 20], [3, "check", 10]]);

/** A document of two runs, each with a flame graph. */
export function withFlames(document) {
  const { new: changed, old } = document.together.found.diff;
  const runs = document.runs.map((run) => ({ ...run, flame: run.name === changed ? NEW : run.name === old ? OLD : run.flame }));
  return { ...document, runs };
}
