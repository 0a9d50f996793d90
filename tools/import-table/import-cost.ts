/**
 * CPU time of documents that are made to be expensive:
 *
 *   node tools/import-table/import-cost.ts
 *
 * The least of four runs, of the import and of preparing its manifest for publishing; and how a reader in steps divides
 * its work.
 */
import { importGraphqlSdl } from "../../src/formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../../src/formats/imported.ts";
import { importOpenApi } from "../../src/formats/openapi/import-openapi.ts";
import { defaultBounds, importBounds } from "../../src/kernel/bounds.ts";
import { createPace, type Steps, withoutPauses } from "../../src/kernel/pace/pace.ts";
import type { Result } from "../../src/kernel/result.ts";
import { parseStrictJson, strictJsonSteps } from "../../src/kernel/strict-json.ts";
import { parseYaml, yamlSteps } from "../../src/kernel/yaml.ts";
import { readIntake } from "../../src/manifest/intake/intake.ts";
import { prepareManifest } from "../../src/manifest/prepare.ts";
import { loadTokenizer } from "../../src/manifest/tokens.ts";

const range = (length: number) => Array.from({ length }, (_, index) => index);

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function measure(what: string, run: () => unknown): Promise<void> {
  const times: number[] = [];
  for (const _ of range(4)) {
    const start = cpu();
    await run();
    times.push(Math.round(cpu() - start));
  }
  console.log(`${what}: ${Math.min(...times)} ms`);
}

async function measureSteps(what: string, steps: () => Steps<unknown>): Promise<void> {
  let [last, longest, pauses] = [0, 0, 0];
  const slice = () => {
    longest = Math.max(longest, performance.now() - last);
  };
  const pause = async () => {
    slice();
    pauses += 1;
    await new Promise((resume) => setImmediate(resume));
    last = performance.now();
  };
  const start = cpu();
  last = performance.now();
  await createPace({ pause }).run(steps());
  slice();
  console.log(`${what}: ${Math.round(cpu() - start)} ms, ${pauses} pauses, longest slice ${Math.round(longest)} ms`);
}

async function prepare({ manifest }: Imported): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(manifest));
  const document = parseStrictJson(bytes, { maxDepth: defaultBounds.depth });
  const intake = document.ok ? readIntake(document.value) : undefined;
  if (!intake?.ok) throw new Error("not a manifest");
  await prepareManifest(intake.value, {
    server: "cost",
    partial: true,
    bounds: defaultBounds,
    knownTokens: async () => new Map(),
    charactersBeforeLookup: 0,
    loadTokenizer,
    pace: withoutPauses,
  });
}

async function measureImport(
  what: string,
  run: () => Result<Imported, ImportFault> | Promise<Result<Imported, ImportFault>>,
) {
  await measure(`${what}, import`, run);
  const imported = await run();
  if (!imported.ok) return console.log(imported.error.message);
  await measure(`${what}, prepare ${JSON.stringify(imported.value.manifest).length} bytes`, () =>
    prepare(imported.value),
  );
}

/** Input types that all lead to each other, and an operation for each of them. */
function connectedTypes(size: number): string {
  const type = (index: number) => `T${index % size}`;
  const fields = range(size).map((index) => `q${index}(a: T${index}): Int`);
  const types = range(size).map(
    (index) => `input T${index} { a: ${type(index + 1)} b: ${type(index + 7)} c: ${type(index + 31)} d: String }`,
  );
  return `type Query { ${fields.join("\n")} }\n${types.join("\n")}`;
}

function sharingApi(operations: number, schemas: number) {
  const ref = (index: number) => ({ $ref: `#/components/schemas/S${index % schemas}` });
  const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
  const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
  const post = (index: number) => ({
    summary: `Does ${index}`,
    parameters: [id],
    requestBody: json(ref(index)),
    responses: { 200: json(ref(index + 1)) },
  });
  const schema = (index: number) => ({
    type: "object",
    description: "A thing of the kind that has parts",
    properties: { name: { type: "string" }, next: ref(index + 1), other: ref(index + 17), count: { type: "integer" } },
  });
  return {
    openapi: "3.1.0",
    info: { title: "Sharing", version: "1" },
    paths: Object.fromEntries(range(operations).map((index) => [`/p${index}/{id}`, { post: post(index) }])),
    components: { schemas: Object.fromEntries(range(schemas).map((index) => [`S${index}`, schema(index)])) },
  };
}

await loadTokenizer();
const encode = (text: string) => new TextEncoder().encode(text);
const sdl = connectedTypes(250);
await measureImport(`GraphQL, ${sdl.length} bytes`, () =>
  importGraphqlSdl(sdl, { server: "cost", documentBytes: sdl.length }),
);
const api = sharingApi(600, 300);
const documentBytes = JSON.stringify(api).length;
await measureImport(`OpenAPI, ${documentBytes} bytes`, () => importOpenApi(api, { server: "cost", documentBytes }));

const limits = { maxDepth: defaultBounds.depth, maxBytes: importBounds.yamlBytes };
const item = "- {name: item, text: 'some text here', list: [1, 2, 3]}\n";
const aliases = `a: &a [1, 2]\nb:\n${"- *a\n".repeat(importBounds.yamlAliases)}`;
const yaml = encode(`${aliases}c:\n${item.repeat(Math.floor(500_000 / item.length))}`);
await measure(`YAML, ${yaml.length} bytes`, () => parseYaml(yaml, limits));
await measureSteps("… in steps", () => yamlSteps(yaml, limits));

const properties = Object.fromEntries(
  range(8).map((index) => [`p${index}`, { type: "string", description: "what it is" }]),
);
const tools = range(9_000).map((index) => ({
  name: `tool_${index}`,
  description: "words ".repeat(200),
  inputSchema: { type: "object", properties },
}));
const json = encode(JSON.stringify({ tools }));
await measure(`JSON, ${json.length} bytes`, () => parseStrictJson(json, limits));
await measureSteps("… in steps", () => strictJsonSteps(json, limits));
