// Hashes in Node's thread pool for each request: hashing.js PORT ROUNDS
const http = require("http");
const crypto = require("crypto");

const [port, rounds] = process.argv.slice(2).map(Number);

http.createServer((request, response) => {
  const answer = (body) => {
    response.setHeader("Content-Length", body.length);
    response.end(body);
  };
  if (request.url === "/healthz") {
    answer("ok");
    return;
  }
  crypto.pbkdf2("password", "salt", rounds, 32, "sha256", (error, key) => answer(key.toString("hex")));
}).listen({ port, backlog: 1024 });
