// One run: its sections in the order in which they are read.

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

export interface RunView {
  element: HTMLElement;
  /** Shows a later state of the same run, at the same range of time. */
  update(run: Run): void;
}

export function runView(first: Run, index: number): RunView {
  const link = new TimeLink(wholeRange(first), `run-${index}`);
  let over = time(first, link);
  const before = (run: Run): (HTMLElement | null)[] =>
    [answer(run), limit(run), ladder(run), search(run), overload(run, link)];
  const after = (run: Run): (HTMLElement | null)[] =>
    [steps(run), failures(run), evidence(run), flame(run), generator(run), method(run)];
  const element = h("div", { class: "run" });
  const fill = (run: Run): void => {
    const sections = [...before(run), over.element, ...after(run)].filter((one): one is HTMLElement => one !== null);
    element.replaceChildren(contents(sections), ...sections);
  };
  fill(first);
  return {
    element,
    update(next) {
      if (!over.update(next)) over = time(next, link);
      fill(next);
    },
  };
}

function contents(sections: readonly HTMLElement[]): HTMLElement {
  const links = sections.map((one) => h("li", {}, h("a", { href: `#${one.id}` },
    one.id === "answer" ? "Answer" : one.querySelector("h2")?.textContent ?? one.id)));
  return h("nav", { class: "contents", "aria-label": "Sections" }, h("ul", {}, ...links));
}
