// The server of a served page: what the page shows, its documents and its events. A page on disk requests nothing.

/** What the page shows, as the server says; null for a page on disk. */
export function served(): "live" | "runs" | null {
  const text = document.getElementById("plimsoll-served")?.textContent;
  return text ? (JSON.parse(text) as "live" | "runs") : null;
}

const token = new URLSearchParams(location.search).get("token") ?? "";

/** Returns the URL of a path on the server, with the token of this page. */
export function address(path: string, parameters: readonly (readonly [string, string])[] = []): string {
  const query = new URLSearchParams({ token });
  for (const [name, value] of parameters) query.append(name, value);
  return `${path}?${query}`;
}

/** Fetches a JSON document. A refusal throws an error with the message of the server. */
export async function fetched<T>(path: string, parameters: readonly (readonly [string, string])[]): Promise<T> {
  const answer = await fetch(address(path, parameters)).catch(() => {
    throw new Error("The server does not answer. Has the command ended?");
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as T;
}

export interface EventHandlers {
  /** Called with the data of each event. */
  event: (data: string) => void;
  /** The connection is open, for the first time or again. */
  open: () => void;
  /** The connection is lost; it is retried automatically. */
  lost: () => void;
  /** The server sends no more events. */
  end: () => void;
}

/** Follows the events named `name` until the server ends them or the caller calls the returned function. */
export function follow(name: string, handlers: EventHandlers): () => void {
  const source = new EventSource(address("/events"));
  let close = (): void => source.close();
  source.addEventListener("open", handlers.open);
  source.addEventListener(name, (event) => handlers.event((event as MessageEvent<string>).data));
  source.addEventListener("end", () => { source.close(); handlers.end(); });
  source.addEventListener("error", () => {
    handlers.lost();
    // A browser does not retry after a response that is no event stream, such as a refusal.
    if (source.readyState !== EventSource.CLOSED) return;
    const again = setTimeout(() => { close = follow(name, handlers); }, 2000);
    close = () => clearTimeout(again);
  });
  return () => close();
}

/**
 * Follows events while switched on and the page is visible: browsers keep few connections to a server, for all tabs together.
 * The returned function switches it on or off. `missed` is called when a hidden page is shown again.
 */
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
