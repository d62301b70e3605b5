// Fastify that asks PostgreSQL for each request, over a pool: fastify_query.js PORT DATABASE-HOST DATABASE-PORT CONNECTIONS MILLISECONDS
const fastify = require("fastify");
const { Pool } = require("pg");

const [port, host, databasePort, connections, milliseconds] = process.argv.slice(2);
const pool = new Pool({ host, port: Number(databasePort), user: "postgres", database: "postgres", max: Number(connections), idleTimeoutMillis: 0 });
pool.on("error", () => {});
const app = fastify();
app.get("/healthz", async () => "ok");
app.get("/", async () => {
  await pool.query("SELECT pg_sleep($1)", [Number(milliseconds) / 1000]);
  return "asked";
});
app.listen({ port: Number(port), host: "0.0.0.0", backlog: 1024 });
