/**
 * How much of real API documents an import publishes, as a Markdown table:
 *
 *   node tools/import-table/import-table.ts [--sum] path...
 *
 * A path is a document, or a folder of documents (OpenAPI as JSON or YAML, GraphQL as SDL or introspection). With --sum
 * a folder is one row, and files of which not everything is published have a row each. What goes into
 * an OpenAPI import is counted here, apart from the importer; for GraphQL by the schema of the `graphql` package, which the
 * importer uses too. Published is what passes the rules of a publish. A body counts as one parameter.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { buildClientSchema, buildSchema, type GraphQLSchema } from "graphql";
import { importGraphqlIntrospection, importGraphqlSdl } from "../../src/formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../../src/formats/imported.ts";
import { importOpenApi } from "../../src/formats/openapi/import-openapi.ts";
import { defaultBounds, importBounds } from "../../src/kernel/bounds.ts";
import { withoutPauses } from "../../src/kernel/pace/pace.ts";
import type { Result } from "../../src/kernel/result.ts";
import { parseStrictJson } from "../../src/kernel/strict-json.ts";
import { parseYaml } from "../../src/kernel/yaml.ts";
import { readIntake } from "../../src/manifest/intake/intake.ts";
import { prepareManifest } from "../../src/manifest/prepare.ts";

type Json = Record<string, unknown>;

interface Counts {
  operations: number;
  parameters: number;
}

interface Row {
  file: string;
  given: Counts;
  published: Counts;
  note: string;
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Follows local references; undefined for others. */
function resolve(document: Json, value: unknown): Json | undefined {
  let at = value;
  for (let hops = 0; hops < 20 && isObject(at) && typeof at.$ref === "string"; hops += 1) {
    const [start, ...segments] = at.$ref.split("/").map((part) => decodeURIComponent(part));
    at =
      start === "#"
        ? segments.reduce(
            (inside: unknown, part) =>
              isObject(inside) || Array.isArray(inside)
                ? (inside as Json)[part.replaceAll("~1", "/").replaceAll("~0", "~")]
                : undefined,
            document,
          )
        : undefined;
  }
  return isObject(at) ? at : undefined;
}

function countOpenApi(document: Json): Counts {
  const counts = { operations: 0, parameters: 0 };
  for (const [path, entry] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    if (path.startsWith("x-")) continue;
    const item = resolve(document, entry) ?? {};
    for (const method of methods.filter((name) => item[name] !== undefined)) {
      const operation = resolve(document, item[method]) ?? {};
      const lists = [item.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
      const parameters = lists.map((one) => resolve(document, one) ?? {});
      const keys = new Set(parameters.filter((one) => one.in !== "formData").map((one) => `${one.in} ${one.name}`));
      const hasForm = parameters.some((one) => one.in === "formData");
      const body = resolve(document, operation.requestBody);
      const hasBody = isObject(body?.content) && Object.keys(body.content).length > 0;
      counts.operations += 1;
      counts.parameters += keys.size + Number(hasForm) + Number(hasBody);
    }
  }
  return counts;
}

function countSchema(schema: GraphQLSchema): Counts {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap((root) => Object.values(root?.getFields() ?? {}));
  return { operations: fields.length, parameters: fields.reduce((sum, { args }) => sum + args.length, 0) };
}

/** What the registry would publish of an import, by the rules of every publish. */
async function countPublished({ manifest }: Imported, isOpenApi: boolean): Promise<Counts> {
  const strict = parseStrictJson(new TextEncoder().encode(JSON.stringify(manifest)), { maxDepth: defaultBounds.depth });
  const intake = strict.ok ? readIntake(strict.value) : undefined;
  if (intake?.ok !== true) return { operations: 0, parameters: 0 };
  const prepared = await prepareManifest(intake.value, {
    ...{ server: "table", partial: true, bounds: defaultBounds, charactersBeforeLookup: 0 },
    knownTokens: async () => new Map(),
    loadTokenizer: async () => (text) => text.length,
    pace: withoutPauses,
  });
  if (!prepared.ok) return { operations: 0, parameters: 0 };
  const names = new Set(prepared.value.capabilities.map(({ key }) => key));
  const items = (manifest.operations as Json[]).filter(({ name }) => names.has(String(name)));
  const parameters = items.map(({ inputSchema }) => {
    const properties = Object.values((inputSchema as Json).properties as Record<string, Json>);
    const inBody = (property: Json) => property["x-in"] === undefined || property["x-in"] === "formData";
    if (!isOpenApi) return properties.length;
    return properties.filter((property) => !inBody(property)).length + Number(properties.some(inBody));
  });
  return { operations: items.length, parameters: parameters.reduce((sum, count) => sum + count, 0) };
}

interface Document {
  given: Counts;
  isOpenApi: boolean;
  imported: Result<Imported, ImportFault>;
}

async function readDocument(file: string): Promise<Document | string | undefined> {
  const bytes = readFileSync(file);
  if (/\.(graphqls?|gql)$/.test(file)) {
    const text = bytes.toString();
    const given = countSchema(buildSchema(text, { assumeValid: true }));
    return {
      given,
      isOpenApi: false,
      imported: await importGraphqlSdl(text, { server: "table", documentBytes: bytes.byteLength }),
    };
  }
  const isYaml = !file.endsWith(".json");
  const limit = isYaml ? importBounds.yamlBytes : defaultBounds.importBytes;
  if (bytes.byteLength > limit) return `larger than ${limit} bytes`;
  const limits = { maxDepth: defaultBounds.depth, maxBytes: limit };
  const parsed = isYaml ? parseYaml(bytes, limits) : parseStrictJson(bytes, limits);
  if (!parsed.ok) return parsed.error.message;
  const { value } = parsed.value;
  const schema = isObject(value) && isObject(value.data) ? value.data : value;
  if (isObject(schema) && isObject(schema.__schema)) {
    const given = countSchema(buildClientSchema(schema as never));
    return {
      given,
      isOpenApi: false,
      imported: await importGraphqlIntrospection(value, { server: "table", documentBytes: bytes.byteLength }),
    };
  }
  if (!isObject(value) || (value.openapi === undefined && value.swagger === undefined)) return undefined;
  return {
    given: countOpenApi(value),
    isOpenApi: true,
    imported: importOpenApi(value, { server: "table", documentBytes: bytes.byteLength }),
  };
}

async function rowOf(file: string, name: string): Promise<Row | undefined> {
  const none = { operations: 0, parameters: 0 };
  const document = await readDocument(file);
  if (document === undefined) return undefined;
  if (typeof document === "string") return { file: name, given: none, published: none, note: document };
  const { given, isOpenApi, imported } = document;
  if (!imported.ok) {
    const { message, path = "" } = imported.error;
    return { file: name, given, published: none, note: `${message} ${path}`.trim() };
  }
  return { file: name, given, published: await countPublished(imported.value, isOpenApi), note: "" };
}

function filesIn(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name));
  return files.filter((file) => /\.(json|ya?ml|graphqls?|gql)$/.test(file)).sort();
}

function print({ file, given, published, note }: Row): void {
  const cells = [file, given.operations, published.operations, given.parameters, published.parameters, note];
  console.log(`| ${cells.join(" | ")} |`);
}

const sum = (rows: readonly Row[], side: "given" | "published"): Counts => ({
  operations: rows.reduce((total, row) => total + row[side].operations, 0),
  parameters: rows.reduce((total, row) => total + row[side].parameters, 0),
});

const isWhole = ({ given, published, note }: Row) =>
  note === "" && given.operations === published.operations && given.parameters === published.parameters;

const args = process.argv.slice(2);
const isSum = args.includes("--sum");
console.log(
  "| document | operations in | published | parameters in | published | |\n| --- | --- | --- | --- | --- | --- |",
);
for (const path of args.filter((argument) => argument !== "--sum")) {
  const rows: Row[] = [];
  for (const file of filesIn(path)) {
    const row = await rowOf(file, relative(path, file) || file);
    if (row !== undefined) rows.push(row);
  }
  const whole = isSum ? rows.filter(isWhole) : [];
  if (whole.length > 0) {
    print({
      file: `${whole.length} documents`,
      given: sum(whole, "given"),
      published: sum(whole, "published"),
      note: "",
    });
  }
  for (const row of isSum ? rows.filter((row) => !isWhole(row)) : rows) print(row);
}
