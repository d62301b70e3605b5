// Express hashes in the thread pool of libuv, which has four threads by default: express_hash.js PORT ROUNDS
const crypto = require("crypto");
const express = require("express");

const [port, rounds] = process.argv.slice(2).map(Number);
const app = express();
app.get("/healthz", (request, response) => response.send("ok"));
app.get("/", (request, response, next) => {
  crypto.pbkdf2("password", "salt", rounds, 32, "sha256", (error, key) => (error ? next(error) : response.send(key.toString("hex"))));
});
app.listen({ port, backlog: 1024 });
