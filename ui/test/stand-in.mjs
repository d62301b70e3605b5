// A server in place of the program: it serves the built page with the documents that a test gives it, as crates/web does.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { once } from "node:events";

const built = () => readFileSync(new URL("../../crates/report/page/index.html", import.meta.url), "utf8");

/** The built page as it is served: with the kind of page it is, and with permission to ask its server. */
function served(kind) {
  return built()
    .replace("<!--plimsoll:document-->", () => `<script type="application/json" id="plimsoll-served">"${kind}"</script>`)
    .replace(/(http-equiv="Content-Security-Policy" content="[^"]*)/, "$1; connect-src 'self'");
}

/** Serves a page of a kind, `live` or `runs`, on this machine. `answers` has documents by path. */
export async function standIn(kind, answers = {}) {
  const streams = new Set();
  let away = false;
  const server = createServer((request, response) => {
    if (away) return request.socket.destroy();
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    if (pathname === "/") {
      response.setHeader("content-type", "text/html; charset=utf-8").end(served(kind));
    } else if (pathname === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("retry: 50\n\n");
      streams.add(response);
      request.on("close", () => streams.delete(response));
    } else if (pathname in answers) {
      response.setHeader("content-type", "application/json").end(JSON.stringify(answers[pathname]));
    } else {
      response.writeHead(404).end("not found");
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const send = (event, data) => streams.forEach((stream) => stream.write(`event: ${event}\ndata: ${data}\n\n`));
  return {
    address: `http://127.0.0.1:${server.address().port}/?token=0`,
    document: (document) => send("document", JSON.stringify(document)),
    end: () => send("end", "over"),
    changed: () => send("changed", ""),
    /** How many pages follow events. */
    followers: () => streams.size,
    /** Breaks the connections of all pages, and takes none until it is back. */
    leave() {
      away = true;
      streams.forEach((stream) => stream.destroy());
    },
    comeBack() { away = false; },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
