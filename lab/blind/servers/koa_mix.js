// Koa with a page, a search that waits for 15 ms, and an order that asks MariaDB over a pool: koa_mix.js PORT DATABASE-HOST CONNECTIONS MILLISECONDS
const Koa = require("koa");
const mysql = require("mysql2/promise");
const { setTimeout: wait } = require("timers/promises");

const [port, host, connections, milliseconds] = process.argv.slice(2);
const pool = mysql.createPool({ host, user: "plimsoll", connectionLimit: Number(connections) });
const app = new Koa();
app.use(async (context) => {
  if (context.path === "/search") {
    await wait(15);
  } else if (context.path === "/order") {
    await pool.query("SELECT SLEEP(?)", [Number(milliseconds) / 1000]);
  }
  context.body = "ok";
});
app.listen({ port: Number(port), backlog: 1024 });
