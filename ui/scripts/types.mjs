// Writes src/generated/page.ts and runs.ts from the schemas of the documents that pages read.
import { readFile, mkdir, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const SCHEMAS = [["page", "PageDocument"], ["runs", "RunsDocument"]];

/** The schema in the form that gives one type for each definition: a `$ref` with a description next to it would give a copy of the type. */
function plain(node) {
  if (Array.isArray(node)) return node.map(plain);
  if (node === null || typeof node !== "object") return node;
  if (typeof node.$ref === "string") return { $ref: node.$ref };
  const entries = Object.entries(node).map(([key, value]) => [key, plain(value)]);
  return Object.fromEntries(entries);
}

for (const [name, title] of SCHEMAS) {
  const schema = plain(JSON.parse(await readFile(new URL(`../../docs/${name}.schema.json`, import.meta.url), "utf8")));
  schema.title = title;
  for (const [definition, content] of Object.entries(schema.$defs)) content.title = definition;
  const types = await compile(schema, title, {
    additionalProperties: false,
    bannerComment: `// Generated from docs/${name}.schema.json by \`npm run types\`. Do not edit.`,
  });
  const file = new URL(`../src/generated/${name}.ts`, import.meta.url);
  await mkdir(new URL(".", file), { recursive: true });
  await writeFile(file, types);
}
