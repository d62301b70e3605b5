// The colour theme, light or dark: that of the system until the reader chooses one.

const KEY = "plimsoll-theme";
type Theme = "light" | "dark";

const listeners = new Set<() => void>();
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const printing = window.matchMedia("print");

function stored(): Theme | null {
  // A page from disk may not be allowed to store anything.
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

export function theme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : prefersDark.matches ? "dark" : "light";
}

export function toggleTheme(): Theme {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The choice lasts until the page is closed.
  }
  changed();
  return next;
}

function changed(): void {
  for (const listener of listeners) listener();
}

/** Calls `listener` when colours change, so that canvases are drawn again. Returns a function that unsubscribes. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the value of a colour in style.css, such as `--ink`. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function watchTheme(): void {
  const chosen = stored();
  if (chosen !== null) document.documentElement.dataset["theme"] = chosen;
  prefersDark.addEventListener("change", changed);
  // Paper is light: style.css changes the colours, and canvases are drawn again.
  printing.addEventListener("change", changed);
}
