// The names of the series under a chart, with the values at the cursor.

import { foreign, h } from "../dom";
import type { Series } from "./line";
import { colour } from "../theme";

export interface Legend {
  element: HTMLElement;
  /** Shows the values at `x`; null for none. */
  show(x: string | null, values: readonly string[]): void;
}

/** Creates a legend. `rest` is shown while no value is. The reader can hide a series; `hidden` holds the labels, and `toggle` is called. */
export function legend(
  series: readonly Series[], rest: string, hidden: ReadonlySet<string>, toggle: (index: number, shown: boolean) => void,
): Legend {
  const at = h("span", { class: "at" }, rest);
  const values: HTMLElement[] = [];
  const items = series.map((one, index) => {
    const value = h("span", { class: "value" });
    values.push(value);
    const swatch = h("span", { class: one.dash ? "swatch dashed" : "swatch", "aria-hidden": "true" });
    swatch.style.borderColor = colour(one.colour);
    const button = h("button", {
      type: "button", "aria-pressed": String(!hidden.has(one.label)), class: "key",
      click: () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        toggle(index, shown);
      },
    }, swatch, foreign(one.label));
    return h("span", { class: "item" }, button, value);
  });
  return {
    element: h("div", { class: "legend" }, ...items, at),
    show(x, texts) {
      at.textContent = x === null ? rest : `at ${x}`;
      values.forEach((value, index) => { value.textContent = x === null ? "" : texts[index] ?? ""; });
    },
  };
}
