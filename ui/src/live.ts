// The page of a run that is under way: its status lines, and the documents that the server sends.

import { setUnderWay, type PageDocument, type Run } from "./document";
import { h } from "./dom";
import { instant } from "./format";
import { follow } from "./served";

const WAITING = "Waiting for the first figures of the run.";
const ON = "The run goes on. The figures are those of the requests so far.";
const LOST = "The connection to the run is lost. This page tries again; it shows what it had.";
const ENDED = "The run has ended. This is the whole of it.";
const FAILED = "The run has ended without a result. The terminal says why.";
/** Why a page may be out of date: see Cost in docs/live.md. */
const SPARING = "New figures come at most once a second, and less often where making them would disturb the load: in a long run or a small load.";
/** How often the age of the last document is updated, in milliseconds. */
const TICK = 1000;

/** Follows the run. Returns the lines with the state of the run and the age of the page. */
export function liveLine(): HTMLElement {
  // The age changes each second; a screen reader should announce only the state.
  const line = h("p", { role: "status" }, WAITING);
  const age = ageLine();
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
      age.received(page);
      document.dispatchEvent(new CustomEvent("plimsoll:document", { detail: page }));
    },
    end: () => {
      say("ended", complete ? ENDED : FAILED);
      age.end(complete);
    },
  });
  return h("div", { class: "live" }, line, age.element);
}

/** Returns the end of the recorded data, in seconds since the run began; null if nothing was recorded. */
function recordedUntil(run: Run): number | null {
  const { at_sec: load, window_sec: window, hosts_at_sec: hosts, host_window_sec: hostWindow } = run.timeline;
  const ends = [[load, window], [hosts, hostWindow]] as const;
  return ends.reduce<number | null>((latest, [begins, length]) => {
    const last = begins[begins.length - 1];
    return last === undefined ? latest : Math.max(latest ?? 0, last + (length ?? 0));
  }, null);
}

/** The line that says how far into the run the page goes, and how long ago that arrived. */
function ageLine() {
  const element = h("p", { class: "note age" });
  let until: number | null = null;
  let came = 0;
  const write = (): void => {
    const ago = Math.round((performance.now() - came) / 1000);
    const figures = until === null ? "No second of load is recorded yet" : `As of ${instant(until)} of the run`;
    element.textContent = `${figures}, received ${ago < 1 ? "just now" : `${whole(ago)} ago`}. ${SPARING}`;
  };
  let timer: number | undefined;
  return {
    element,
    received(page: PageDocument): void {
      const end = page.runs.reduce<number | null>((latest, run) => recordedUntil(run) ?? latest, null);
      // After a reconnect the server sends the same figures again.
      if (end !== until || came === 0) came = performance.now();
      until = end;
      write();
      timer ??= window.setInterval(write, TICK);
    },
    /** A page of the whole run has no age; a page of a part says how far it goes. */
    end(complete: boolean): void {
      window.clearInterval(timer);
      element.textContent = complete || until === null ? "" : `The page goes up to ${instant(until)} of the run.`;
    },
  };
}

/** Formats whole seconds, or minutes and seconds. */
const whole = (sec: number): string => (sec < 60 ? `${sec} s` : instant(sec));
