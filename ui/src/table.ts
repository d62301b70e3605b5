// Tables with the data of charts.

import { h } from "./dom";

export interface Column {
  name: string;
  /** Text is aligned left, numbers right. */
  text?: boolean;
}

export interface TableModel {
  columns: readonly Column[];
  /** The number of rows. They are built when they are needed, since a long run has thousands. */
  count: number;
  row: (index: number) => readonly (string | Node)[];
  /** Rows in the accent colour, such as the best step. */
  marked?: (index: number) => boolean;
}

export const text = (name: string): Column => ({ name, text: true });
export const number = (name: string): Column => ({ name });

function cell(content: string | Node, column: Column | undefined, first: boolean): HTMLElement {
  const value = column?.text ? h("bdi", {}, content) : content;
  return first
    ? h("th", { scope: "row", class: column?.text ? "text" : null }, value)
    : h("td", { class: column?.text ? "text" : null }, value);
}

function fill(body: HTMLElement, model: TableModel): void {
  body.replaceChildren();
  for (let index = 0; index < model.count; index += 1) {
    const cells = model.row(index).map((content, at) => cell(content, model.columns[at], at === 0));
    body.append(h("tr", { class: model.marked?.(index) ? "marked" : null }, ...cells));
  }
}

/** A table whose rows are built at once. */
export function table(caption: string, model: TableModel): HTMLElement {
  const { element, rows } = lazyTable(caption, model);
  rows();
  return element;
}

/** A table whose rows are built when `rows` is called. */
export function lazyTable(caption: string, model: TableModel): { element: HTMLElement; rows: () => void } {
  const heads = model.columns.map((column) => h("th", { scope: "col", class: column.text ? "text" : null }, column.name));
  const body = h("tbody");
  const element = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", { "data-rows": model.count },
      h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, ...heads)), body));
  return { element, rows: () => fill(body, model) };
}
