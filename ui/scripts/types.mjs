// Writes src/generated/page.ts from ../docs/page.schema.json.
import { readFile, mkdir, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../../docs/page.schema.json", import.meta.url);
const TYPES = new URL("../src/generated/page.ts", import.meta.url);

/** The schema in the form that gives one type for each definition: a `$ref` with a description next to it would give a copy of the type. */
function plain(node) {
  if (Array.isArray(node)) return node.map(plain);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref };
  const entries = Object.entries(node).map(([key, value]) => [key, plain(value)]);
  return Object.fromEntries(entries);
}

const schema = plain(JSON.parse(await readFile(SCHEMA, "utf8")));
schema.title = "PageDocument";
for (const [name, definition] of Object.entries(schema.$defs)) definition.title = name;

const types = await compile(schema, "PageDocument", {
  additionalProperties: false,
  bannerComment: "// Generated from docs/page.schema.json by `npm run types`. Do not edit.",
});
await mkdir(new URL(".", TYPES), { recursive: true });
await writeFile(TYPES, types);
