import { type Document, generated, type Schema, table, typeOf } from "./document.ts";

/** `files` are the JSON Schemas of requests, by name. */
export function schemasPage(document: Document, files: Record<string, Schema>): string {
  const published = Object.keys(files).sort();
  const named = Object.entries(document.components.schemas)
    .filter(
      ([name, { properties, enum: values }]) => !isEnvelope(name) && (properties !== undefined || values !== undefined),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const list = published.map((name) => [`\`/schemas/${name}.schema.json\``, files[name]?.description ?? ""]);
  return `${generated}

# Schemas

\`GET /schemas/\` lists the JSON Schemas of what is sent; the folder \`schemas/\` has the same files. Below them are the named parts of
the OpenAPI document, in requests and answers; \`NameAnswer\` is \`{"success": true, "data": Name}\`, and \`NameOutput\` is \`Name\` with its
defaults filled in.

## Files

${table(["file", "describes"], list)}

${named.map(([name, schema]) => describe(name, schema)).join("\n\n")}
`;
}

function isEnvelope(name: string): boolean {
  return /(?:Answer|Output)$/.test(name);
}

function describe(name: string, schema: Schema): string {
  const { description = "", properties, required = [] } = schema;
  const rows = Object.entries(properties ?? {}).map(([member, inner]) => [
    `\`${member}\`${required.includes(member) ? "" : "?"}`,
    typeOf(inner),
    inner.description ?? "",
  ]);
  const body =
    properties === undefined ? typeOf(schema) : rows.length === 0 ? "" : table(["member", "type", "meaning"], rows);
  return [`## ${name}`, description, body].filter((part) => part !== "").join("\n\n");
}
