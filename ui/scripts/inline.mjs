// A Vite plugin that puts the script and the style into index.html, so that the page is one file.
import { createHash } from "node:crypto";

/** Replaced by the document when a page is written; see crates/report/src/html.rs. */
const MARKER = "<!--plimsoll:document-->";

function policy(script) {
  const hash = createHash("sha256").update(script, "utf8").digest("base64");
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

export function inline() {
  return {
    name: "plimsoll-inline",
    enforce: "post",
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const page = files.find((file) => file.fileName === "index.html");
      const chunks = files.filter((file) => file.type === "chunk");
      const styles = files.filter((file) => file.fileName.endsWith(".css"));
      if (page === undefined || chunks.length !== 1) throw new Error("expected one page and one script");

      // A browser ends the element at `</script`, even within a string; and the marker must stand once, in the body.
      const script = chunks[0].code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
      const style = styles.map((file) => String(file.source)).join("").trim();
      const html = String(page.source)
        .replaceAll(/\s*<script type="module"[^>]*><\/script>/g, "")
        .replaceAll(/\s*<link rel="stylesheet"[^>]*>/g, "")
        .replace("</title>", () => `</title>\n<style>${style}</style>`)
        .replace("<meta charset=\"utf-8\">", (meta) =>
          `${meta}\n<meta http-equiv="Content-Security-Policy" content="${policy(script)}">`)
        .replace(MARKER, () => `${MARKER}\n<script type="module">${script}</script>`);
      if (html.split(MARKER).length !== 2) throw new Error(`${MARKER} must stand once in the page`);

      page.source = html;
      for (const file of [...chunks, ...styles]) delete bundle[file.fileName];
    },
  };
}
