// Numbers as the page writes them, read back.

const FACTORS = {
  ns: 1e-6, "µs": 1e-3, ms: 1, s: 1e3,
  "%": 0.01, cores: 1, "requests/s": 1, "packets/s": 1, "/s": 1, "": 1,
};
const PREFIXES = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** The amount in a cell, and what its last digit counts; times in milliseconds, shares of 1; null for "not known". */
function parsed(cell) {
  const text = cell.replaceAll("\u00a0", " ").replace(/ \(.*\)$/, "").replace(/^≥ /, "").trim();
  if (text === "not known") return null;
  const minutes = /^(\d+) min (\d+(?:\.\d)?) s$/.exec(text);
  if (minutes) return { value: (Number(minutes[1]) * 60 + Number(minutes[2])) * 1e3, last: 100 };
  const [, amount, unit] = /^([\d,.]+(?:e[-+]\d+)?)\s*(.*)$/.exec(text) ?? [];
  if (amount === undefined) throw new Error(`"${cell}" is no number`);
  const [, prefix, base] = /^([kMGT]?)(B|B\/s|bit\/s)$/.exec(unit) ?? [];
  // What is counted, such as descriptors, is a unit too.
  const factor = base !== undefined ? PREFIXES[prefix] : FACTORS[unit] ?? (/^[a-z]{3}[a-z ]*$/.test(unit) ? 1 : undefined);
  if (factor === undefined) throw new Error(`"${cell}" has an unknown unit`);
  const [digits, power] = amount.replaceAll(",", "").split("e");
  const places = digits.includes(".") ? digits.length - digits.indexOf(".") - 1 : 0;
  return { value: Number(`${digits}e${power ?? 0}`) * factor, last: 10 ** (Number(power ?? 0) - places) * factor };
}

/** The number in a cell; null for "not known". */
export const read = (cell) => parsed(cell)?.value ?? null;

/** Whether a cell says this value, as far as its digits go. A ratio of success is cut, not rounded. */
export function says(cell, value) {
  const found = parsed(cell);
  if (value === null || value === undefined || found === null) return found === (value ?? null);
  return Math.abs(found.value - value) <= found.last * (/%/.test(cell) ? 1.01 : 0.51);
}

/** The cells of the table of a chart, row by row. */
export const cellsOf = (page, chart) => page.locator(`#chart-${chart} details.data tbody tr`)
  .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

/** The names of the columns of the table of a chart. */
export const headsOf = (page, chart) => page.locator(`#chart-${chart} details.data thead th`).allTextContents();

/** Canvases without the colour of any of their series, of charts that have a value to draw. Charts that rest are drawn for it, as for paper. */
export const blank = (page) => page.evaluate(async () => {
  window.dispatchEvent(new Event("beforeprint"));
  // A plot is painted in a microtask of its own; charts rest again in a later task.
  for (let turn = 0; turn < 10; turn += 1) await null;
  // The columns after the first begin with those of the series; a heat map has more.
  const known = (figure) => [...figure.querySelectorAll("details.data tbody tr")].some((row) =>
    [...row.cells].slice(1, 1 + figure.querySelectorAll(".legend .swatch").length).some((cell) => /\d/.test(cell.textContent)));
  const near = (one, other) => one.every((value, at) => Math.abs(value - other[at]) < 24);
  return [...document.querySelectorAll("figure[data-chart]")].filter((figure) => {
    const canvas = figure.querySelector("canvas");
    if (!known(figure)) return false;
    if (canvas === null) return figure.querySelector(".plot") !== null;
    const series = [...figure.querySelectorAll(".legend .swatch")].map((swatch) => getComputedStyle(swatch).borderTopColor.match(/[\d.]+/g).slice(0, 3).map(Number));
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 200 && series.some((colour) => near(colour, [...data.subarray(at, at + 3)]))) return false;
    }
    return true;
  }).map((figure) => figure.dataset.chart);
});
