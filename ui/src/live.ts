// A run while it goes on: what the page says of it, and its documents as they come.

import { setUnderWay, type PageDocument } from "./document";
import { h } from "./dom";
import { follow } from "./served";

const WAITING = "Waiting for the first figures of the run.";
const ON = "The run goes on. The figures are those of the requests so far.";
const LOST = "The connection to the run is lost. This page tries again; it shows what it had.";
const ENDED = "The run has ended. This is the whole of it.";
const FAILED = "The run has ended without a result. The terminal says why.";

/** Follows the run, and gives the line that says how it stands. */
export function liveLine(): HTMLElement {
  const line = h("p", { class: "live", role: "status" }, WAITING);
  let received = false;
  let complete = false;
  const say = (state: string, text: string): void => {
    document.documentElement.dataset["live"] = state;
    if (line.textContent !== text) line.textContent = text;
  };
  say("waiting", WAITING);
  setUnderWay(true);
  follow("document", {
    open: () => say(received ? "on" : "waiting", received ? ON : WAITING),
    lost: () => say("lost", LOST),
    event: (data) => {
      const page = JSON.parse(data) as PageDocument;
      received = true;
      complete = page.runs.every((run) => run.document.run.sealed);
      if (complete) setUnderWay(false);
      else say("on", ON);
      document.dispatchEvent(new CustomEvent("plimsoll:document", { detail: page }));
    },
    end: () => say("ended", complete ? ENDED : FAILED),
  });
  return line;
}
