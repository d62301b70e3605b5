// Builds elements from text alone: text from a server or a file never becomes markup.

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(typeof child === "string" ? visible(child) : child);
  }
}

/**
 * Creates an element. Control and direction characters in its text are shown as escapes. A function as an attribute is the listener of the
 * event of that name.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

/** Isolates text that the page did not write from the text direction around it. Direction marks within it are shown as escapes. */
export function foreign(text: string): HTMLElement {
  return h("bdi", {}, text);
}

/**
 * The characters that the text report escapes: control characters except tabs and line ends, and invisible characters that change the
 * direction or the position of others.
 */
const MARKS = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e"
  + "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}"
  + "\\u{1d173}-\\u{1d17a}\\u{e0001}\\u{e0020}-\\u{e007f}]", "gu");

/** Replaces control characters and direction marks by escapes. */
export function visible(text: string): string {
  return text.replace(MARKS, (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A part of the page that folds. */
export function fold(summary: Child, ...children: Child[]): HTMLDetailsElement {
  return h("details", {}, h("summary", {}, summary), ...children);
}

/** A section with its heading. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/** Terms and their values; a null value is left out. */
export function facts(rows: readonly (readonly [string, Child] | null)[]): HTMLElement {
  const list = h("dl", { class: "facts" });
  for (const row of rows) if (row !== null) list.append(h("div", {}, h("dt", {}, row[0]), h("dd", {}, row[1])));
  return list;
}
