// A page that a server serves: what it shows, requests to that server, and its events. A page on disk asks for nothing.

/** What the server says that this page shows; null for a page on disk. */
export function served(): "live" | "runs" | null {
  const text = document.getElementById("plimsoll-served")?.textContent;
  return text ? (JSON.parse(text) as "live" | "runs") : null;
}

const token = new URLSearchParams(location.search).get("token") ?? "";

/** An address of the server, with the token of this page. */
export function address(path: string, parameters: readonly (readonly [string, string])[] = []): string {
  const query = new URLSearchParams({ token });
  for (const [name, value] of parameters) query.append(name, value);
  return `${path}?${query}`;
}

/** A document of the server; the error is in its own words. */
export async function fetched<T>(path: string, parameters: readonly (readonly [string, string])[]): Promise<T> {
  const answer = await fetch(address(path, parameters)).catch(() => {
    throw new Error("The server does not answer. Has the command ended?");
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as T;
}

export interface EventHandlers {
  /** An event of the name that was asked for. */
  event: (data: string) => void;
  /** The connection is there again. */
  open: () => void;
  /** The connection is lost; the browser tries again by itself. */
  lost: () => void;
  /** There are no more events. */
  end: () => void;
}

/** Follows the events of the server until it says that they are over, or until the function that is returned is called. */
export function follow(name: string, handlers: EventHandlers): () => void {
  const source = new EventSource(address("/events"));
  let close = (): void => source.close();
  source.addEventListener("open", handlers.open);
  source.addEventListener(name, (event) => handlers.event((event as MessageEvent<string>).data));
  source.addEventListener("end", () => { source.close(); handlers.end(); });
  source.addEventListener("error", () => {
    handlers.lost();
    // A browser gives up after an answer that is no stream, such as a refusal.
    if (source.readyState !== EventSource.CLOSED) return;
    const again = setTimeout(() => { close = follow(name, handlers); }, 2000);
    close = () => clearTimeout(again);
  });
  return () => close();
}

/** Follows events while it is asked to and the page is shown. A browser keeps few connections to a server, for all tabs together. */
export function followWhileShown(name: string, handlers: EventHandlers, missed: () => void): (on: boolean) => void {
  let stop: (() => void) | null = null;
  let asked = false;
  let over = false;
  const adjust = (): void => {
    const due = asked && !document.hidden && !over;
    if (due && stop === null) stop = follow(name, { ...handlers, end: () => { over = true; handlers.end(); } });
    else if (!due) {
      stop?.();
      stop = null;
    }
  };
  document.addEventListener("visibilitychange", () => {
    const before = stop;
    adjust();
    if (before === null && stop !== null) missed();
  });
  return (on) => { asked = on; adjust(); };
}
