// Numbers as the text report writes them: three significant digits, a unit after each, "not known" for null.

export const NOT_KNOWN = "not known";

type Maybe = number | null | undefined;
export type Format = (value: Maybe) => string;

const known = (text: (value: number) => string): Format => (value) =>
  value === null || value === undefined || !Number.isFinite(value) ? NOT_KNOWN : text(value);

/** Three significant digits. */
export function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.0005) return value.toExponential(2);
  if (size < 0.0009995) return value.toFixed(6);
  if (size < 0.009995) return value.toFixed(5);
  if (size < 0.09995) return value.toFixed(4);
  if (size < 0.9995) return value.toFixed(3);
  if (size < 9.995) return value.toFixed(2);
  if (size < 99.95) return value.toFixed(1);
  return value.toFixed(0);
}

/** A whole number with thousands separators. */
export function grouped(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A whole number. */
export const whole = known(grouped);

/** A mean or a rate: thousands separators from 100 on, three significant digits below. */
export const count = known((value) => (Math.abs(value) >= 99.95 ? grouped(value) : significant(value)));

export const rate = known((value) => `${count(value)} requests/s`);

/** A rate that is an upper limit: rounded down, so that the figure shown does not exceed it. */
export const rateAtMost = known((value) => {
  const scale = value > 0 ? Math.max(1, 10 ** (2 - Math.floor(Math.log10(value)))) : 1;
  // The factor makes up for floating-point errors before rounding down.
  return rate(Math.floor(value * scale * (1 + 1e-12)) / scale);
});

/** The prefix of a lower bound. */
export const bound = (isLower: boolean): string => (isLower ? "≥ " : "");

/** A figure that may be a lower bound: `≥ 3,190 requests/s`. */
export const atLeast = (format: Format, value: Maybe, isLower: boolean): string =>
  (value === null || value === undefined ? NOT_KNOWN : `${bound(isLower)}${format(value)}`);

/** A number of machines, which may be fractional in tables. */
export const machineCount = known((value) => (Number.isInteger(value) ? grouped(value) : significant(value)));

/** A time given in milliseconds. */
export const milliseconds = known((ms) => {
  const size = Math.abs(ms);
  if (size === 0) return "0 ms";
  if (size < 0.0009995) return `${significant(ms * 1e6)} ns`;
  if (size < 0.9995) return `${significant(ms * 1e3)} µs`;
  if (size < 999.5) return `${significant(ms)} ms`;
  return `${significant(ms / 1e3)} s`;
});

export const seconds = known((sec) => (sec === 0 ? "0 s" : milliseconds(sec * 1e3)));

/** An instant of a run: `12.3 s`, `2 min 05 s`. */
export const instant = known((sec) => {
  if (Math.abs(sec) < 60) return `${sec.toFixed(1)} s`;
  const tenths = Math.round(sec * 10);
  const rest = (tenths % 600) / 10;
  return `${Math.floor(tenths / 600)} min ${Number.isInteger(rest) ? String(rest).padStart(2, "0") : rest.toFixed(1).padStart(4, "0")} s`;
});

/** An instant on an axis, without trailing zeros. */
export const timeTick = known((sec) => {
  if (Math.abs(sec) < 60) return `${Number(sec.toFixed(1))} s`;
  return sec % 60 === 0 ? `${sec / 60} min` : instant(sec);
});

/** A share in per cent, without decimals from 10 % on. */
export const share = known((ratio) => {
  const percent = ratio * 100;
  return percent === 0 || Math.abs(percent) >= 9.95 ? `${percent.toFixed(0)} %` : `${percent.toFixed(1)} %`;
});

/** A ratio of success, cut instead of rounded: only 1 is shown as 100 %. */
export const ratio = known((value) => {
  if (value === 1) return "100 %";
  if (value > 0 && value < 1e-5) return "< 0.001 %";
  // 0.29 * 1e5 is a little less than 29,000: the addend keeps the last digit. It must not turn a value below 1 into 100 %.
  const cut = Math.floor(value * 1e5 + 1e-7);
  const percent = (value < 1 ? Math.min(cut, 99_999) : cut) / 1e3;
  return `${percent.toFixed(3).replace(/\.?0+$/, "")} %`;
});

export const bytes = known((value) => scaled(value, "B"));
const bits = known((value) => scaled(value, "bit/s"));

function scaled(value: number, unit: string): string {
  const steps: [number, string][] = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"]];
  const size = Math.abs(value);
  const [scale, prefix] = steps.find(([scale]) => size < scale * 999.5) ?? [1e12, "T"];
  const amount = scale === 1 ? value.toFixed(0) : significant(value / scale);
  return `${amount} ${prefix}${unit}`;
}

/** Returns the format of a unit that the document names. */
export function inUnit(unit: string): Format {
  switch (unit) {
    case "bytes": return bytes;
    case "bytes_per_sec": return known((value) => `${bytes(value)}/s`);
    case "bits_per_sec": return bits;
    case "packets_per_sec": return known((value) => `${count(value)} packets/s`);
    case "per_sec": return known((value) => `${count(value)}/s`);
    case "ratio": return share;
    case "cores": return known((value) => `${value === 0 ? "0" : significant(value)} cores`);
    case "count": return count;
    case "sec": return seconds;
    case "ms": return milliseconds;
    default: return known((value) => `${count(value)} ${unit.replaceAll("_", " ")}`);
  }
}

/** Money: two decimals from a tenth on, three digits below, and the currency where the user wrote it. */
export const money = (currency: string, leads: boolean): Format => known((value) => {
  const cents = Math.round(value * 100);
  const amount = value !== 0 && value < 0.1 ? significant(value)
    : value >= 1000 ? `${grouped(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`
    : value.toFixed(2);
  if (currency === "") return amount;
  return leads ? `${currency}${amount}` : `${amount} ${currency}`;
});

/** `1 connection`, `600 connections`. */
export function counted(value: number, noun: string): string {
  return `${grouped(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `3,150 to 3,230`. */
export function interval(pair: readonly [number, number] | null | undefined, format: Format): string {
  return pair ? `${format(pair[0])} to ${format(pair[1])}` : NOT_KNOWN;
}

/** A difference with its sign: `+1.2 ms`, `−0.3 ms`. */
export const signed = (format: Format): Format => known((value) =>
  `${value > 0 ? "+" : value < 0 ? "−" : ""}${format(Math.abs(value))}`);

/** An overload as a multiple of the rate that holds: `1.2×`, `2× (ramp)`. */
export const overloadOf = (factor: number | null, onset: string | null = null): string =>
  (factor === null ? NOT_KNOWN : `${Number(factor.toFixed(2))}×${onset === "ramp" ? " (ramp)" : ""}`);

/** `p99`, `p99.9`. */
export const percentile = known((value) => `p${Number(value.toFixed(4))}`);

export function date(unixMs: number): string {
  const when = new Date(unixMs);
  return Number.isNaN(when.getTime()) ? NOT_KNOWN : `${when.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A list in a sentence: `a`, `a and b`, `a, b and c`. */
export function list(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

/** Keeps each number and its unit on one line, with no-break spaces. */
export function joined(text: string): string {
  return text.replace(/([≤≥]) (?=\d)/g, "$1\u00a0")
    .replace(/(\d) (?=(?:%|ns|µs|ms|s|min|requests\/s|cores?|connections?|[kMGT]?B|[kMG]?bit\/s)(?![\w]))/g, "$1\u00a0");
}

/** Makes the first letter a capital. */
export const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Adds a full stop unless the text ends with a punctuation mark. */
export function sentence(text: string): string {
  return /[.!?…:]$/.test(text) ? text : `${text}.`;
}
