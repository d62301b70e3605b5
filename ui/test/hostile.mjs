// Text of a server or a file that must stay text, in every field of a document.

/** Markup, a terminal's escape, marks that turn text around, and no place to break. */
export const HOSTILE = "</script><img src=x onerror=\"window.hostile=1\"><b>&amp;\u001b[31m\u202eabc\u200f\u061c\u00ad\u2028\u2060\ufff9\u{e0041}" + "x".repeat(200);
/** Names that the program writes and the page compares with; other strings may come from anywhere. */
const NAMES = new Set(["schema", "kind", "limit", "class", "resource", "unit", "command", "confidence", "outcome", "onset", "law", "id", "doubt", "shown_in"]);
/** Maps whose keys come from a run. */
const MAPS = new Set(["tags", "failed", "failed_checks"]);

/** The same document with hostile text in front of every string and of every key that comes from a run. */
export function hostile(value, name = "") {
  if (typeof value === "string") return NAMES.has(name) ? value : HOSTILE + value;
  if (Array.isArray(value)) return value.map((one) => hostile(one, name));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [MAPS.has(name) ? HOSTILE + key : key, hostile(one, key)]));
}

/** What hostile text did to a page; all of it must be as in `HARMLESS`. */
export const harm = (page) => page.evaluate(() => ({
  markup: document.querySelectorAll("#page img, #page b b").length, ran: "hostile" in window,
  marks: /[\u001b\u200f\u202e\u061c\u00ad\u2028\u2060\ufff9\u{e0041}]/u.test(document.getElementById("page").textContent), shown: document.body.textContent.includes("onerror"),
}));
export const HARMLESS = { markup: 0, ran: false, marks: false, shown: true };
