// The sections of one run, in reading order.

import { destroyFigures, renew } from "./charts/figure";
import type { Run } from "./document";
import { h } from "./dom";
import { TimeLink } from "./link";
import { answer } from "./sections/answer";
import { evidence } from "./sections/evidence";
import { failures } from "./sections/failures";
import { flame } from "./sections/flame";
import { generator } from "./sections/generator";
import { ladder } from "./sections/ladder";
import { limit } from "./sections/limit";
import { method } from "./sections/method";
import { overload } from "./sections/overload";
import { search } from "./sections/search";
import { wholeRange } from "./sections/spans";
import { steps } from "./sections/steps";
import { time } from "./sections/time";
import { traces } from "./sections/traces";

export interface RunView {
  element: HTMLElement;
  /** Shows a later state of the same run and keeps the time range. */
  update(run: Run): void;
  /** Releases what is registered outside the element, which is about to be removed. */
  close(): void;
}

export function runView(first: Run, index: number): RunView {
  const link = new TimeLink(wholeRange(first), `run-${index}`);
  let over = time(first, link);
  const before = (run: Run): (HTMLElement | null)[] =>
    [answer(run), limit(run), ladder(run), search(run), overload(run, link)];
  const after = (run: Run): (HTMLElement | null)[] =>
    [steps(run), failures(run), traces(run), evidence(run), flame(run), generator(run), method(run)];
  const element = h("div", { class: "run" });
  const fill = (run: Run): void => {
    const sections = [...before(run), over.element, ...after(run)].filter((one): one is HTMLElement => one !== null);
    element.replaceChildren(contents(sections), ...sections);
  };
  fill(first);
  return {
    element,
    update(next) {
      const state = stateOf(element);
      const same = over.update(next);
      renew(element, same ? over.element : null, () => {
        if (!same) {
          over.close();
          over = time(next, link);
        }
        fill(next);
      });
      restore(element, state);
    },
    close() {
      over.close();
      destroyFigures(element);
    },
  };
}

/** What the reader changed on the page: open folds, scroll positions of tables, and the focus. */
interface ReaderState {
  open: Set<string>;
  scrolled: Map<string, [number, number]>;
  focus: string | null;
}

/** A key of an element that stays the same when its section is rebuilt: the section or chart, the tag, and the index there. */
function nameOf(root: HTMLElement, one: Element): string {
  const place = one.closest("figure[id], section[id]") ?? root;
  const alike = [...place.querySelectorAll(one.tagName)];
  return `${place.id} ${one.tagName} ${alike.indexOf(one)}`;
}

function stateOf(root: HTMLElement): ReaderState {
  const focused = document.activeElement;
  return {
    open: new Set([...root.querySelectorAll("details[open]")].map((one) => nameOf(root, one))),
    scrolled: new Map([...root.querySelectorAll(".scroll")].filter((one) => one.scrollTop > 0 || one.scrollLeft > 0)
      .map((one) => [nameOf(root, one), [one.scrollLeft, one.scrollTop]])),
    focus: focused !== null && root.contains(focused) ? nameOf(root, focused) : null,
  };
}

function restore(root: HTMLElement, state: ReaderState): void {
  for (const one of root.querySelectorAll("details")) if (state.open.has(nameOf(root, one))) one.open = true;
  if (state.focus !== null && document.activeElement === document.body) {
    const tag = state.focus.split(" ").at(-2) ?? "*";
    const focused = [...root.querySelectorAll<HTMLElement>(tag)].find((one) => nameOf(root, one) === state.focus);
    focused?.focus({ preventScroll: true });
  }
  // Tables that were opened get their rows only after this.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    for (const one of root.querySelectorAll(".scroll")) {
      const [left, top] = state.scrolled.get(nameOf(root, one)) ?? [0, 0];
      if (left > 0 || top > 0) one.scrollTo(left, top);
    }
  }));
}

function contents(sections: readonly HTMLElement[]): HTMLElement {
  const links = sections.map((one) => h("li", {}, h("a", { href: `#${one.id}` },
    one.id === "answer" ? "Answer" : one.querySelector("h2")?.textContent ?? one.id)));
  return h("nav", { class: "contents", "aria-label": "Sections" }, h("ul", {}, ...links));
}
