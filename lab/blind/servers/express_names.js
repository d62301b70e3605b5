// Express looks a name up for each request, in the thread pool of libuv: express_names.js PORT
const dns = require("dns");
const express = require("express");

const app = express();
app.get("/healthz", (request, response) => response.send("ok"));
app.get("/", (request, response) => {
  dns.lookup("stock.shop.example", { family: 4 }, (error, address) => {
    if (error) {
      response.status(502).send(error.message);
    } else {
      response.send(address);
    }
  });
});
app.listen({ port: Number(process.argv[2]), backlog: 1024 });
