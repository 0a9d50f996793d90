import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultBounds } from "../../src/domain/bounds.ts";
import { prepareManifest } from "../../src/domain/prepare.ts";
import { parseStrictJson } from "../../src/domain/strict-json.ts";
import type { ImportFault } from "../../src/formats/imported.ts";
import { importOpenApi } from "../../src/formats/openapi/import-openapi.ts";
import { parseYaml } from "../../src/formats/yaml.ts";
import { describeFixture } from "./fixtures.ts";

type Json = Record<string, unknown>;
interface Operation extends Json {
  name: string;
  inputSchema: { properties: Json; required?: string[]; $defs?: Json };
  outputSchema?: Json;
  metadata: { openapi: Json; discovery: Json };
}

function imported(document: unknown, sourceUrl?: string) {
  const result = importOpenApi(document, { server: "pets", ...(sourceUrl === undefined ? {} : { sourceUrl }) });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  const { manifest, counts, warnings } = result.value;
  return { manifest, counts, warnings, operations: manifest.operations as Operation[] };
}

function refused(document: unknown): ImportFault {
  const result = importOpenApi(document, { server: "pets" });
  if (result.ok) throw new Error("was accepted");
  return result.error;
}

const v31 = (rest: Json): Json => ({ openapi: "3.1.0", info: { title: "Pets", version: "1.2" }, ...rest });
const v30 = (rest: Json): Json => ({ ...v31(rest), openapi: "3.0.3" });
const v20 = (rest: Json): Json => ({ swagger: "2.0", info: { title: "Pets", version: "1.2" }, ...rest });

/** The only operation of a document. */
function only(document: Json, sourceUrl?: string): Operation & { warnings: string[] } {
  const { operations, warnings } = imported(document, sourceUrl);
  const [operation] = operations;
  if (operation === undefined || operations.length > 1) throw new Error(`${operations.length} operations`);
  return { ...operation, warnings };
}

const at = (operation: Json, method = "get", path = "/pets/{id}") => ({ paths: { [path]: { [method]: operation } } });
const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
const answering = (schema: unknown) => at({ responses: { 200: json(schema) } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const range = (length: number) => Array.from({ length }, (_, index) => index);

/** What a publish asks of a manifest, and that its text nests no deeper than a parser allows. */
async function expectPublishable(manifest: Json): Promise<void> {
  const strict = parseStrictJson(new TextEncoder().encode(JSON.stringify(manifest)), { maxDepth: defaultBounds.depth });
  expect(strict.ok && strict.value.issues).toEqual([]);
  const prepared = await prepareManifest(manifest, {
    server: "pets",
    partial: false,
    bounds: defaultBounds,
    documentIssues: [],
    knownTokens: new Map(),
    loadTokenizer: async () => (text) => text.length,
    pause: async () => {},
  });
  expect(prepared.ok ? [] : prepared.error).toEqual([]);
}

/** References of a schema that lead nowhere inside it. */
function dangling(schema: Json | undefined): string[] {
  const defs = new Set(Object.keys((schema?.$defs ?? {}) as Json).map((name) => `#/$defs/${name}`));
  const refs = Array.from(JSON.stringify(schema ?? {}).matchAll(/"\$ref":"([^"]*)"/g), (match) => match[1] ?? "");
  return refs.filter((target) => !defs.has(target));
}

describe("which documents are OpenAPI", () => {
  it.each<[string, Json]>([
    ["2.0", { swagger: "2.0", paths: {} }],
    ["2.0 as YAML reads it without quotes", { swagger: 2, paths: {} }],
    ["3.0", { openapi: "3.0.4", paths: {} }],
    ["3.1", { openapi: "3.1.1", paths: {} }],
    ["3.2", { openapi: "3.2.0", paths: {} }],
    ["3.1 without paths", { openapi: "3.1.0", webhooks: {} }],
    ["3.2 without paths", { openapi: "3.2.0", components: {} }],
  ])("takes %s", (_, document) => {
    expect(imported(document).counts).toEqual({ operation: 0 });
  });

  it.each<[string, unknown, string, RegExp]>([
    ["a list", [], "", /object/],
    ["nothing", null, "", /object/],
    ["another document", { name: "x" }, "", /openapi or swagger/],
    ["an unknown version", { openapi: "4.0.0", paths: {} }, "/openapi", /"4\.0\.0"/],
    ["an unknown minor version", { openapi: "3.3.0", paths: {} }, "/openapi", /"3\.3\.0"/],
    ["a version that is no text", { openapi: 3.1, paths: {} }, "/openapi", /version/],
    ["Swagger 1.2", { swagger: "1.2", paths: {} }, "/swagger", /"1\.2"/],
    ["2.0 without paths", { swagger: "2.0" }, "/paths", /no paths/],
    ["3.0 without paths", { openapi: "3.0.0" }, "/paths", /no paths/],
    ["paths that are a list", { openapi: "3.1.0", paths: [] }, "/paths", /object/],
    ["a path that is text", { openapi: "3.1.0", paths: { "/a": "x" } }, "/paths/~1a", /object/],
    ["an operation that is null", v31(at(null as unknown as Json)), "/paths/~1pets~1{id}/get", /object/],
    ["parameters that are no list", v31(at({ parameters: {} })), "/paths/~1pets~1{id}/get/parameters", /array/],
    [
      "a parameter without a name",
      v31(at({ parameters: [{ in: "query" }] })),
      "/paths/~1pets~1{id}/get/parameters/0",
      /name/,
    ],
    [
      "a parameter in the body of 3.1",
      v31(at({ parameters: [{ name: "a", in: "body" }] })),
      "/paths/~1pets~1{id}/get/parameters/0",
      /"body"/,
    ],
  ])("refuses %s", (_, document, path, message) => {
    const fault = refused(document);
    expect(fault).toMatchObject({ path });
    expect(fault.message).toMatch(message);
  });
});

describe("what the manifest says of the API", () => {
  it("is the document's own description", () => {
    const info = { title: "Pets", version: "1.2", description: "All\r\nof them" };
    expect(imported({ openapi: "3.1.0", info, paths: {} }).manifest).toEqual({
      title: "Pets",
      version: "1.2",
      description: "All\nof them",
      serverInfo: { name: "Pets", version: "1.2" },
      operations: [],
    });
  });

  it("does without", () => {
    expect(imported({ openapi: "3.1.0", paths: {} }).manifest).toEqual({
      serverInfo: { name: "pets" },
      operations: [],
    });
  });

  it("cuts what is too long, between characters, and says so", () => {
    const description = `${"x".repeat(65_535)}🐈🐈`;
    const { manifest, warnings } = imported({ openapi: "3.1.0", info: { description, version: 2.5 }, paths: {} });
    expect(manifest).toMatchObject({ description: "x".repeat(65_535), version: "2.5" });
    expect(warnings).toEqual([expect.stringMatching(/description has 65539 characters and was cut to 65536/)]);
  });
});

describe("an operation", () => {
  it("carries everything that its kind of capability has", () => {
    const document = v31({
      servers: [{ url: "https://api.example.com/v1/" }],
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: "apiKey", in: "query", name: "appid" } } },
      ...at({
        operationId: "getPet",
        summary: "One pet",
        description: "Gets\r\none",
        deprecated: true,
        tags: ["pets"],
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: { 200: json({ type: "object" }) },
      }),
    });
    const { warnings, ...operation } = only(document, "https://example.com/openapi.json");
    expect(warnings).toEqual([]);
    expect(operation).toEqual({
      name: "getPet",
      title: "One pet",
      description: "Gets\none",
      provider: "openapi",
      deprecated: true,
      tags: ["pets"],
      inputSchema: { type: "object", properties: { id: { type: "string", "x-in": "path" } }, required: ["id"] },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      permissions: ["network.http"],
      effects: ["network_request", "network_read", "auth_required"],
      metadata: {
        openapi: {
          base_url: "https://api.example.com/v1",
          endpoint_method: "GET",
          endpoint_path: "/pets/{id}",
          api_version: "1.2",
          auth_type: "api_key",
          auth_location: "query",
          auth_param_name: "appid",
        },
        discovery: {
          method: "api_introspection",
          source_url: "https://example.com/openapi.json",
          capability_type: "specialized_http_api",
          introspector_version: "1.0.0",
        },
      },
    });
  });

  it.each<[string, Json, string]>([
    ["its id", { operationId: "list.pets-v2/all" }, "list.pets-v2/all"],
    ["its id without what a name cannot hold", { operationId: "find pet by id (new)" }, "find_pet_by_id_new_"],
    ["its id cut", { operationId: "x".repeat(200) }, "x".repeat(128)],
    ["its method and path without an id", {}, "get/pets/id"],
    ["its method and path where the id has no letters", { operationId: "…" }, "get/pets/id"],
  ])("is named by %s", (_, operation, name) => {
    expect(only(v31(at(operation)))).toMatchObject({ name });
  });

  it("keeps its name from others", () => {
    const same = { get: { operationId: "a b" }, put: { operationId: "a_b" }, post: { operationId: "a_b_2" } };
    const { operations, warnings } = imported(v31({ paths: { "/x": same, "/y": { get: { operationId: "a/b" } } } }));
    expect(operations.map(({ name }) => name)).toEqual(["a_b", "a_b_2", "a_b_2_2", "a/b"]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/PUT \/x: the name a_b is taken, so it is called a_b_2/);
  });

  it("keeps a long name from others that begin alike", () => {
    const paths = Object.fromEntries(range(3).map((index) => [`/${index}`, { get: { operationId: "x".repeat(200) } }]));
    const names = imported(v31({ paths })).operations.map(({ name }) => name);
    expect(names).toEqual(["x".repeat(128), `${"x".repeat(120)}_2`, `${"x".repeat(120)}_3`]);
  });

  it.each<[string, Json, string[]]>([
    ["get", { readOnlyHint: true }, ["network_read"]],
    ["head", { readOnlyHint: true }, ["network_read"]],
    ["options", { readOnlyHint: true }, ["network_read"]],
    ["trace", { readOnlyHint: true }, ["network_read"]],
    ["query", { readOnlyHint: true }, ["network_read"]],
    ["post", { readOnlyHint: false }, ["network_write"]],
    ["patch", { readOnlyHint: false }, ["network_write"]],
    ["put", { readOnlyHint: false, idempotentHint: true }, ["network_write"]],
    ["delete", { readOnlyHint: false, destructiveHint: true, idempotentHint: true }, ["network_write", "destructive"]],
  ])("with the method %s says what it does", (method, annotations, effects) => {
    const operation = only({ ...v31(at({}, method)), openapi: "3.2.0" });
    expect(operation).toMatchObject({ annotations, effects: ["network_request", ...effects] });
    expect(operation.metadata.openapi.endpoint_method).toBe(method.toUpperCase());
  });

  it("may use any method from 3.2 on", () => {
    const paths = { "/x": { query: {}, additionalOperations: { COPY: { operationId: "copy" } } } };
    const { operations } = imported({ ...v31({ paths }), openapi: "3.2.0" });
    expect(operations.map(({ name, metadata }) => [name, metadata.openapi.endpoint_method])).toEqual([
      ["query/x", "QUERY"],
      ["copy", "COPY"],
    ]);
    expect(imported(v31({ paths })).operations).toEqual([]);
  });

  it("is not a webhook or callback, but those are counted", () => {
    const post = { post: { callbacks: { done: { "{$url}": { post: {} } }, failed: {} } } };
    const { counts, warnings } = imported(v31({ paths: { "/x": post }, webhooks: { newPet: { post: {} } } }));
    expect(counts).toEqual({ operation: 1 });
    expect(warnings).toEqual([
      expect.stringMatching(/webhooks.*1 left out/),
      expect.stringMatching(/callbacks.*2 left out/),
    ]);
  });
});

describe("what an operation takes", () => {
  const taking = (parameters: unknown[], more: Json = {}) => only(v31(at({ parameters, ...more })));

  it("is its parameters, wherever the request carries them", () => {
    const { inputSchema } = taking([
      { name: "id", in: "path", schema: { type: "integer" } },
      {
        name: "limit",
        in: "query",
        required: true,
        description: "How\r\nmany",
        schema: { type: "integer", description: "n" },
      },
      { name: "X-Trace", in: "header", deprecated: true, example: "t1", schema: true },
      { name: "session", in: "cookie", content: { "application/json": { schema: { type: "object" } } } },
      { name: "Authorization", in: "header", schema: { type: "string" } },
    ]);
    expect(inputSchema).toEqual({
      type: "object",
      properties: {
        id: { type: "integer", "x-in": "path" },
        limit: { type: "integer", description: "How\nmany", "x-in": "query" },
        "X-Trace": { deprecated: true, examples: ["t1"], "x-in": "header" },
        session: { type: "object", "x-in": "cookie" },
      },
      required: ["id", "limit"],
    });
  });

  it("includes the path's parameters unless it has its own", () => {
    const shared = [
      { name: "id", in: "path", schema: { type: "string" } },
      { name: "X-Trace", in: "header", schema: { type: "string" } },
    ];
    const own = [{ name: "x-trace", in: "header", schema: { type: "integer" } }];
    const { inputSchema } = only(v31({ paths: { "/pets/{id}": { parameters: shared, get: { parameters: own } } } }));
    expect(inputSchema.properties).toEqual({
      id: { type: "string", "x-in": "path" },
      "x-trace": { type: "integer", "x-in": "header" },
    });
  });

  it("tells apart parameters of one name, and leaves the path its own", () => {
    const { inputSchema, warnings } = taking([
      { name: "id", in: "query", required: true },
      { name: "id", in: "path" },
      { name: "id", in: "cookie" },
    ]);
    expect(inputSchema.properties).toEqual({
      id: { "x-in": "path" },
      query_id: { "x-in": "query", "x-name": "id" },
      cookie_id: { "x-in": "cookie", "x-name": "id" },
    });
    expect(inputSchema.required).toEqual(["id", "query_id"]);
    expect(warnings).toEqual([expect.stringMatching(/query is called query_id/), expect.stringMatching(/cookie_id/)]);
  });

  const pet = { type: "object", properties: { name: { type: "string" }, age: {} }, required: ["name"] };
  const sending = (schema: unknown, more: Json = {}) =>
    taking([{ name: "id", in: "path" }], { requestBody: { ...json(schema), ...more } });
  const id = { "x-in": "path" };

  it.each<[string, unknown, Json, Json]>([
    ["its properties", pet, { required: true }, { properties: { id, ...pet.properties }, required: ["id", "name"] }],
    [
      "its properties, none required where it is optional",
      pet,
      {},
      { properties: { id, ...pet.properties }, required: ["id"] },
    ],
    [
      "its properties and no others",
      { ...pet, additionalProperties: false },
      {},
      { properties: { id, ...pet.properties }, additionalProperties: false },
    ],
    [
      "`body` where it is a list",
      { type: "array" },
      { required: true },
      { properties: { id, body: { type: "array" } }, required: ["id", "body"] },
    ],
    [
      "`body` where it may be null",
      { ...pet, type: ["object", "null"] },
      {},
      { properties: { id, body: { ...pet, type: ["object", "null"] } } },
    ],
    ["`body` where it takes any property", { type: "object" }, {}, { properties: { id, body: { type: "object" } } }],
    [
      "`body` where other properties have a schema",
      { ...pet, additionalProperties: { type: "string" } },
      {},
      { properties: { id, body: { ...pet, additionalProperties: { type: "string" } } } },
    ],
    ["`body` where it is put together", { allOf: [pet] }, {}, { properties: { id, body: { allOf: [pet] } } }],
    [
      "`body` where a parameter has a name of its own",
      { properties: { id: {} } },
      {},
      { properties: { id, body: { properties: { id: {} } } } },
    ],
  ])("shows the body as %s", (_, schema, more, expected) => {
    expect(sending(schema, more).inputSchema).toMatchObject({ ...expected, type: "object" });
    expect(Object.keys(sending(schema, more).inputSchema.properties)).toEqual(Object.keys(expected.properties as Json));
  });

  it("warns of a body that could not be spread out", () => {
    expect(sending({ properties: { id: {} } }).warnings).toEqual([expect.stringMatching(/has a id of its own/)]);
    const named = taking([{ name: "body", in: "query" }], { requestBody: json({ type: "array" }) });
    expect(Object.keys(named.inputSchema.properties)).toEqual(["body", "request_body"]);
  });

  it("prefers JSON, then forms, and names any other type", () => {
    const content = (...types: string[]) => ({
      content: Object.fromEntries(types.map((type) => [type, { schema: { title: type } }])),
    });
    const bodyOf = (requestBody: Json) => {
      const { inputSchema, metadata } = taking([], { requestBody });
      return [inputSchema.properties.body, metadata.openapi.content_type];
    };
    expect(bodyOf(content("text/plain", "application/merge-patch+json; charset=utf-8"))).toEqual([
      { title: "application/merge-patch+json; charset=utf-8" },
      undefined,
    ]);
    expect(bodyOf(content("text/plain", "multipart/form-data"))).toEqual([
      { title: "multipart/form-data" },
      "multipart/form-data",
    ]);
    expect(bodyOf({ content: { "image/png": {} } })).toEqual([
      { type: "string", contentMediaType: "image/png" },
      "image/png",
    ]);
  });

  it("is read from 2.0 as well", () => {
    const body = { name: "pet", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } };
    const query = { name: "tags", in: "query", type: "array", items: { type: "string" }, collectionFormat: "csv" };
    const { inputSchema } = only(v20({ ...at({ parameters: [body, query] }, "post"), definitions: { Pet: pet } }));
    expect(inputSchema).toEqual({
      type: "object",
      properties: {
        tags: { type: "array", items: { type: "string" }, collectionFormat: "csv", "x-in": "query" },
        ...pet.properties,
      },
      required: ["name"],
    });
  });

  it("has the fields of a 2.0 form", () => {
    const fields = [
      { name: "photo", in: "formData", type: "file", required: true },
      { name: "caption", in: "formData", type: "string" },
    ];
    const { inputSchema, metadata } = only(v20(at({ parameters: fields }, "post")));
    expect(inputSchema).toMatchObject({
      properties: {
        photo: { type: "string", format: "binary", "x-in": "formData" },
        caption: { type: "string", "x-in": "formData" },
      },
      required: ["photo"],
    });
    expect(metadata.openapi.content_type).toBe("multipart/form-data");
    const named = only(
      v20({ consumes: ["application/x-www-form-urlencoded"], ...at({ parameters: fields.slice(1) }) }),
    );
    expect(named.metadata.openapi.content_type).toBe("application/x-www-form-urlencoded");
  });
});

describe("what an operation returns", () => {
  const [a, b] = [{ title: "a" }, { title: "b" }];
  it.each<[string, Json, Json | undefined]>([
    ["the first success", { 201: json(b), 200: json(a) }, a],
    ["the first success that has JSON", { 200: { description: "ok" }, 201: json(b) }, b],
    ["a range", { "2XX": json(a) }, a],
    ["the default where nothing else means success", { default: json(a), 404: json(b) }, a],
    ["nothing where success has no content", { 204: {}, default: json(b) }, undefined],
    ["nothing where it is not JSON", { 200: { content: { "text/csv": { schema: a } } } }, undefined],
    [
      "a vendor's JSON",
      { 200: { content: { "text/csv": { schema: b }, "application/vnd.x+json": { schema: a } } } },
      a,
    ],
    ["any type", { 200: { content: { "*/*": { schema: a } } } }, a],
    ["nothing without responses", {}, undefined],
  ])("is %s", (_, responses, expected) => {
    expect(only(v31(at({ responses }))).outputSchema).toEqual(expected);
  });

  it.each<[string, Json, Json, Json | undefined]>([
    ["the schema where JSON is produced", { produces: ["application/json"] }, {}, a],
    ["the schema where nobody says what is produced", {}, {}, a],
    [
      "nothing where the operation produces something else",
      { produces: ["application/json"] },
      { produces: ["text/plain"] },
      undefined,
    ],
    ["nothing where the document produces something else", { produces: ["application/xml"] }, {}, undefined],
  ])("in 2.0 is %s", (_, document, operation, expected) => {
    const responses = { 200: { schema: a } };
    expect(only(v20({ ...document, ...at({ responses, ...operation }) })).outputSchema).toEqual(expected);
  });
});

describe("who may call", () => {
  const schemes = {
    key: { type: "apiKey", in: "cookie", name: "sid" },
    bearer: { type: "http", scheme: "Bearer" },
    basic: { type: "http", scheme: "basic" },
    digest: { type: "http", scheme: "digest" },
    oauth: { type: "oauth2", flows: {} },
    oidc: { type: "openIdConnect", openIdConnectUrl: "https://x" },
    mtls: { type: "mutualTLS" },
    alias: { $ref: "#/components/securitySchemes/key" },
  };
  const header = { auth_location: "header", auth_param_name: "Authorization" };
  const key = { auth_type: "api_key", auth_location: "cookie", auth_param_name: "sid" };
  it.each<[string, unknown, unknown, Json, boolean]>([
    ["a key", undefined, [{ key: [] }], key, true],
    ["a key by reference", undefined, [{ alias: [] }], key, true],
    ["a bearer token", undefined, [{ bearer: [] }], { auth_type: "bearer", ...header }, true],
    ["a password", undefined, [{ basic: [] }], { auth_type: "basic", ...header }, true],
    ["another scheme of HTTP", undefined, [{ digest: [] }], header, true],
    ["OAuth", undefined, [{ oauth: ["read"] }], { auth_type: "oauth2", ...header }, true],
    ["OpenID", undefined, [{ oidc: [] }], { auth_type: "openid", ...header }, true],
    ["a certificate", undefined, [{ mtls: [] }], {}, true],
    ["what the document says", [{ bearer: [] }], undefined, { auth_type: "bearer", ...header }, true],
    ["the operation before the document", [{ bearer: [] }], [{ key: [] }], key, true],
    ["nobody in particular, by an empty list", [{ bearer: [] }], [], {}, false],
    [
      "anyone, with a token if there is one",
      undefined,
      [{}, { bearer: [] }],
      { auth_type: "bearer", ...header },
      false,
    ],
    ["the first of several", undefined, [{ key: [] }, { bearer: [] }], key, true],
    ["a scheme that is not there", undefined, [{ nope: [] }], {}, true],
    ["nothing", undefined, undefined, {}, false],
  ])("is said of %s", (_, all, own, expected, isSecured) => {
    const document = v31({ ...at({ security: own }), security: all, components: { securitySchemes: schemes } });
    const { metadata, effects } = only(document);
    const { auth_type, auth_location, auth_param_name } = metadata.openapi;
    expect(JSON.parse(JSON.stringify({ auth_type, auth_location, auth_param_name }))).toEqual(expected);
    expect((effects as string[]).includes("auth_required")).toBe(isSecured);
  });

  it("is said in 2.0 as well", () => {
    const securityDefinitions = { key: { type: "apiKey", in: "header", name: "X-Key" }, plain: { type: "basic" } };
    const secured = (security: Json[]) => only(v20({ ...at({ security }), securityDefinitions })).metadata.openapi;
    expect(secured([{ key: [] }])).toMatchObject({
      auth_type: "api_key",
      auth_location: "header",
      auth_param_name: "X-Key",
    });
    expect(secured([{ plain: [] }])).toMatchObject({ auth_type: "basic", auth_location: "header" });
  });
});

describe("where the API is", () => {
  const found = "https://docs.example.com/specs/pets.json";
  const servers = (...urls: string[]) => urls.map((url) => ({ url }));
  it.each<[string, Json, string | undefined, string | undefined]>([
    [
      "the first server",
      v31({ ...at({}), servers: servers("https://a.example/v1/", "https://b.example") }),
      undefined,
      "https://a.example/v1",
    ],
    [
      "the operation's own server",
      v31({ ...at({ servers: servers("https://op.example") }), servers: servers("https://a.example") }),
      undefined,
      "https://op.example",
    ],
    [
      "the path's own server",
      v31({
        paths: { "/x": { servers: servers("https://path.example"), get: {} } },
        servers: servers("https://a.example"),
      }),
      undefined,
      "https://path.example",
    ],
    [
      "a server with its variables filled in",
      v31({ ...at({}), servers: [{ url: "https://{region}.example/{v}", variables: { region: { default: "eu" } } }] }),
      undefined,
      "https://eu.example/{v}",
    ],
    [
      "a path below where the document was found",
      v31({ ...at({}), servers: servers("../v2") }),
      found,
      "https://docs.example.com/v2",
    ],
    ["where the document was found", v31(at({})), found, "https://docs.example.com"],
    ["a relative path", v31({ ...at({}), servers: servers("/v2") }), undefined, "/v2"],
    ["unknown", v31(at({})), undefined, undefined],
    [
      "2.0's host, by https where it can",
      v20({ ...at({}), host: "a.example", basePath: "/v1", schemes: ["http", "https"] }),
      undefined,
      "https://a.example/v1",
    ],
    [
      "2.0's host by what it speaks",
      v20({ ...at({}), host: "a.example", schemes: ["http"] }),
      undefined,
      "http://a.example",
    ],
    [
      "2.0's host by what the operation speaks",
      v20({ ...at({ schemes: ["wss"] }), host: "a.example", schemes: ["http"] }),
      undefined,
      "wss://a.example",
    ],
    ["2.0's path where it was found", v20({ ...at({}), basePath: "/v1" }), found, "https://docs.example.com/v1"],
    ["2.0's path alone", v20({ ...at({}), basePath: "/v1" }), undefined, "/v1"],
    ["where a 2.0 document was found", v20(at({})), found, "https://docs.example.com"],
  ])("is %s", (_, document, sourceUrl, expected) => {
    expect(only(document, sourceUrl).metadata.openapi.base_url).toBe(expected);
  });

  it("does not publish a password", () => {
    const { metadata } = only(v31(at({})), "https://me:secret@docs.example.com/x.json");
    expect(metadata).toMatchObject({
      openapi: { base_url: "https://docs.example.com" },
      discovery: { source_url: "https://docs.example.com/x.json" },
    });
  });
});

describe("references", () => {
  it("are followed to parameters, bodies, responses and paths", () => {
    const components = {
      parameters: { id: { $ref: "#/components/parameters/realId" }, realId: { name: "id", in: "path", schema: {} } },
      requestBodies: { pet: json({ type: "array" }) },
      responses: { pet: json({ type: "integer" }) },
      pathItems: {
        pet: {
          parameters: [{ $ref: "#/components/parameters/id" }],
          get: { responses: { 200: { $ref: "#/components/responses/pet" } } },
          put: { requestBody: { $ref: "#/components/requestBodies/pet" } },
        },
      },
    };
    const { operations } = imported(
      v31({ paths: { "/a": { $ref: "#/components/pathItems/pet", summary: "Pet" } }, components }),
    );
    expect(operations).toMatchObject([
      { title: "Pet", inputSchema: { properties: { id: { "x-in": "path" } } }, outputSchema: { type: "integer" } },
      { title: "Pet", inputSchema: { properties: { id: { "x-in": "path" }, body: { type: "array" } } } },
    ]);
  });

  it("in schemas stay references, to no more than is needed", async () => {
    const schemas = {
      Pet: { type: "object", properties: { owner: ref("Owner"), parent: ref("Pet") } },
      Owner: { type: "object", properties: { pets: { type: "array", items: ref("Pet") } } },
      Error: { type: "object" },
    };
    const { manifest, operations } = imported(v31({ ...answering(ref("Pet")), components: { schemas } }));
    expect(operations[0]?.outputSchema).toEqual({
      $ref: "#/$defs/Pet",
      $defs: {
        Pet: { type: "object", properties: { owner: { $ref: "#/$defs/Owner" }, parent: { $ref: "#/$defs/Pet" } } },
        Owner: { type: "object", properties: { pets: { type: "array", items: { $ref: "#/$defs/Pet" } } } },
      },
    });
    expect(operations[0]?.inputSchema).not.toHaveProperty("$defs");
    await expectPublishable(manifest);
  });

  it("lead to any place in the document, however it is written", () => {
    const definitions = {
      "List«Pet»": { title: "list" },
      "a/b~c": { title: "odd" },
      Pet: { properties: { Pet: { title: "part" } } },
    };
    const properties = {
      list: { $ref: "#/definitions/List%C2%ABPet%C2%BB" },
      odd: { $ref: "#/definitions/a~1b~0c" },
      part: { $ref: "#/definitions/Pet/properties/Pet" },
      pet: { $ref: "#/definitions/Pet" },
      limit: { $ref: "#/paths/~1pets~1%7Bid%7D/get/parameters/0/schema" },
    };
    const operation = {
      parameters: [{ name: "n", in: "body", schema: { title: "n" } }],
      responses: { 200: { schema: { properties } } },
    };
    const { outputSchema } = only(v20({ ...at(operation), definitions }));
    expect(dangling(outputSchema)).toEqual([]);
    expect(outputSchema).toMatchObject({
      properties: { part: { $ref: "#/$defs/Pet" }, pet: { $ref: "#/$defs/Pet_2" } },
      $defs: { List_Pet_: { title: "list" }, a_b_c: { title: "odd" }, Pet: { title: "part" }, schema: { title: "n" } },
    });
  });

  it("spread out a body that stands elsewhere", () => {
    const schemas = {
      Alias: ref("Pet"),
      Pet: { type: "object", properties: { kind: ref("Kind") } },
      Kind: { type: "string" },
    };
    const { inputSchema } = only(v31({ ...at({ requestBody: json(ref("Alias")) }, "post"), components: { schemas } }));
    expect(inputSchema).toEqual({
      type: "object",
      properties: { kind: { $ref: "#/$defs/Kind" } },
      $defs: { Kind: { type: "string" } },
    });
  });

  it("leave an endless choice of variants open, where each includes its base", async () => {
    const schemas = {
      Pet: { type: "object", oneOf: [ref("Dog"), ref("Cat")] },
      Dog: { allOf: [ref("Pet"), { properties: { barks: { type: "boolean" } } }] },
      Cat: { allOf: [ref("Pet")] },
    };
    const { manifest, warnings } = imported(v31({ ...answering(ref("Pet")), components: { schemas } }));
    expect(warnings).toEqual([
      expect.stringMatching(/Dog\/allOf\/0\/\$ref leads back to Pet/),
      expect.stringMatching(/Cat/),
    ]);
    await expectPublishable(manifest);
  });

  const remote = { $ref: "https://evil.example/pet.json" };
  it.each<[string, Json, string]>([
    ["a schema", v31(answering(remote)), "/paths/~1pets~1{id}/get/responses/200/content/application~1json/schema/$ref"],
    [
      "a part of a schema",
      v31({ ...answering(ref("A")), components: { schemas: { A: { items: remote } } } }),
      "/components/schemas/A/items/$ref",
    ],
    [
      "a parameter",
      v31(at({ parameters: [{ $ref: "params.json#/id" }] })),
      "/paths/~1pets~1{id}/get/parameters/0/$ref",
    ],
    ["a body", v31(at({ requestBody: remote })), "/paths/~1pets~1{id}/get/requestBody/$ref"],
    ["a response", v31(at({ responses: { 200: remote } })), "/paths/~1pets~1{id}/get/responses/200/$ref"],
    ["a path", v31({ paths: { "/a": remote } }), "/paths/~1a/$ref"],
    [
      "a security scheme",
      v31({ ...at({ security: [{ k: [] }] }), components: { securitySchemes: { k: remote } } }),
      "/components/securitySchemes/k/$ref",
    ],
    [
      "a file on disk",
      v31(answering({ $ref: "file:///etc/passwd" })),
      "/paths/~1pets~1{id}/get/responses/200/content/application~1json/schema/$ref",
    ],
  ])("that leave the document are refused: %s", (_, document, path) => {
    const fault = refused(document);
    expect(fault).toMatchObject({ path });
    expect(fault.message).toMatch(/leaves the document/);
  });

  const cyclic = { A: ref("B"), B: { ...ref("A"), description: "b" } };
  it.each<[string, Json, string, RegExp]>([
    [
      "a schema",
      v31(answering(ref("Nope"))),
      "/paths/~1pets~1{id}/get/responses/200/content/application~1json/schema/$ref",
      /points at nothing/,
    ],
    [
      "an anchor",
      v31(answering({ $ref: "#pet" })),
      "/paths/~1pets~1{id}/get/responses/200/content/application~1json/schema/$ref",
      /not a JSON pointer/,
    ],
    [
      "an inherited member",
      v31(answering({ $ref: "#/constructor" })),
      "/paths/~1pets~1{id}/get/responses/200/content/application~1json/schema/$ref",
      /points at nothing/,
    ],
    [
      "themselves",
      v31({ ...answering(ref("A")), components: { schemas: { A: ref("A") } } }),
      "/components/schemas/A/$ref",
      /back to itself/,
    ],
    [
      "each other",
      v31({ ...answering(ref("A")), components: { schemas: cyclic } }),
      "/components/schemas/B/$ref",
      /back to itself/,
    ],
    [
      "each other, as parameters",
      v31({ ...at({ parameters: [{ $ref: "#/x" }] }), x: { $ref: "#/y" }, y: { $ref: "#/x" } }),
      "/paths/~1pets~1{id}/get/parameters/0/$ref",
      /other references/,
    ],
    [
      "each other, as paths",
      v31({ paths: { "/a": { $ref: "#/paths/~1b" }, "/b": { $ref: "#/paths/~1a" } } }),
      "/paths/~1a/$ref",
      /other references/,
    ],
  ])("that lead nowhere are refused: %s", (_, document, path, message) => {
    const fault = refused(document);
    expect(fault).toMatchObject({ path });
    expect(fault.message).toMatch(message);
  });
});

describe("schemas of older versions", () => {
  it.each<[string, Json, Json]>([
    ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["nullable: false", { type: "string", nullable: false }, { type: "string" }],
    ["x-nullable", { type: "string", "x-nullable": true }, { type: ["string", "null"] }],
    [
      "nullable with an enum",
      { type: "string", enum: ["a"], nullable: true },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    ["nullable without a type", { title: "t", nullable: true }, { title: "t" }],
    [
      "nullable around others",
      { nullable: true, description: "d", allOf: [{ type: "string" }] },
      { description: "d", anyOf: [{ allOf: [{ type: "string" }] }, { type: "null" }] },
    ],
    ["an exclusive minimum", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ["an inclusive maximum", { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    ["an exclusive maximum", { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
    ["an example", { example: "a\r\nb" }, { examples: ["a\nb"] }],
    ["a file", { type: "file" }, { type: "string", format: "binary" }],
    ["a discriminator by name", { discriminator: "kind" }, { discriminator: { propertyName: "kind" } }],
    [
      "a discriminator",
      { discriminator: { propertyName: "kind", mapping: { d: "Dog" } } },
      { discriminator: { propertyName: "kind", mapping: { d: "Dog" } } },
    ],
    ["a property that calls itself required", { properties: { a: { required: true } } }, { properties: { a: {} } }],
    [
      "line ends in text, not in data",
      { title: "a\r\nb", default: "a\r\nb", enum: ["a\r\nb"] },
      { title: "a\nb", default: "a\r\nb", enum: ["a\r\nb"] },
    ],
    [
      "names of the schema itself",
      { $id: "https://x", $schema: "https://y", $anchor: "z", title: "t" },
      { title: "t" },
    ],
    [
      "a property of any name",
      { properties: { nullable: { type: "string" }, example: {} } },
      { properties: { nullable: { type: "string" }, example: {} } },
    ],
  ])("say in the words of 2020-12: %s", (_, schema, expected) => {
    expect(only(v30(answering(schema))).outputSchema).toEqual(expected);
  });

  it("ignore what stands beside a reference, but for text; later ones do not", () => {
    const schema = { items: { ...ref("A"), description: "d", minimum: 1, nullable: true } };
    const components = { schemas: { A: {} } };
    expect(only(v30({ ...answering(schema), components })).outputSchema?.items).toEqual({
      $ref: "#/$defs/A",
      description: "d",
    });
    expect(only(v31({ ...answering(schema), components })).outputSchema?.items).toEqual({
      $ref: "#/$defs/A",
      description: "d",
      minimum: 1,
    });
  });

  it("bring along what a discriminator refers to", () => {
    const mapping = { dog: "#/components/schemas/Dog", cat: "Cat" };
    const schema = { discriminator: { propertyName: "kind", mapping } };
    const { outputSchema } = only(v30({ ...answering(schema), components: { schemas: { Dog: { title: "dog" } } } }));
    expect(outputSchema).toMatchObject({
      discriminator: { mapping: { dog: "#/$defs/Dog", cat: "Cat" } },
      $defs: { Dog: { title: "dog" } },
    });
  });
});

describe("documents made to be slow or large", () => {
  const schemasOf = (count: number, schema: (index: number) => unknown) => ({
    components: { schemas: Object.fromEntries(range(count).map((index) => [`S${index}`, schema(index)])) },
  });
  const sharing = (count: number) => ({
    paths: Object.fromEntries(
      range(count).map((index) => [`/p${index}`, { get: { responses: { 200: json(ref("S0")) } } }]),
    ),
  });

  it("do not unfold", async () => {
    const fanOut = (index: number) => ({
      properties: Object.fromEntries(range(10).map((part) => [`p${part}`, index < 29 ? ref(`S${index + 1}`) : {}])),
    });
    const { manifest } = imported(v31({ ...answering(ref("S0")), ...schemasOf(30, fanOut) }));
    expect(JSON.stringify(manifest).length).toBeLessThan(20_000);
    await expectPublishable(manifest);
  });

  it("keep each operation in its bounds, with references that lead somewhere", async () => {
    const wide = (index: number) => ({
      type: "object",
      description: "x".repeat(1_000),
      properties: { next: ref(`S${(index + 1) % 1_000}`) },
    });
    const { manifest, operations, warnings } = imported(v31({ ...answering(ref("S0")), ...schemasOf(1_000, wide) }));
    expect(operations.flatMap(({ outputSchema }) => dangling(outputSchema))).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/1 operations need more than/)]);
    await expectPublishable(manifest);
  });

  it("keep all operations together in the bounds of a manifest", async () => {
    const wide = (index: number) => ({
      type: "object",
      description: "x".repeat(1_000),
      properties: { next: ref(`S${(index + 1) % 100}`) },
    });
    const { manifest, operations } = imported(v31({ ...sharing(1_000), ...schemasOf(100, wide) }));
    expect(new TextEncoder().encode(JSON.stringify(manifest)).byteLength).toBeLessThan(defaultBounds.manifestBytes);
    expect(operations.flatMap(({ outputSchema }) => dangling(outputSchema))).toEqual([]);
    expect(operations[0]?.outputSchema?.$defs).toMatchObject({ S0: { description: expect.any(String) } });
    await expectPublishable(manifest);
  });

  it("may have ten thousand operations", async () => {
    const { manifest, counts } = imported(v31({ ...sharing(10_000), ...schemasOf(1, () => ({ type: "object" })) }));
    expect(counts).toEqual({ operation: 10_000 });
    await expectPublishable(manifest);
  });

  let deep: Json = {};
  for (const _ of range(100_000)) deep = { items: deep };
  const query = (index: number) => ({ name: `q${index}`, in: "query" });
  it.each<[string, () => Json, RegExp]>([
    [
      "one operation too many",
      () => v31({ paths: Object.fromEntries(range(10_001).map((index) => [`/${index}`, { get: {} }])) }),
      /more than 10000 operations/,
    ],
    ["schemas nested without end", () => v31(answering(deep)), /nests too deeply/],
    ["a version nested without end", () => ({ openapi: deep }), /version/],
    [
      "a circle of references",
      () => v31({ ...answering(ref("S0")), ...schemasOf(5_000, (index) => ref(`S${(index + 1) % 5_000}`)) }),
      /back to itself/,
    ],
    [
      "one long parameter in every operation",
      () =>
        v31({
          paths: Object.fromEntries(
            range(1_000).map((index) => [`/${index}`, { get: { parameters: [{ $ref: "#/p" }] } }]),
          ),
          p: { ...query(0), description: "x".repeat(100_000) },
        }),
      /larger than 8388608 bytes/,
    ],
    [
      "many parameters in many operations",
      () => ({
        ...v31({
          paths: {
            "/x": {
              parameters: range(5_000).map(query),
              additionalOperations: Object.fromEntries(range(5_000).map((index) => [`M${index}`, {}])),
            },
          },
        }),
        openapi: "3.2.0",
      }),
      /larger than/,
    ],
    [
      "one list of references read again and again",
      () =>
        v31({
          paths: Object.fromEntries(range(5_000).map((index) => [`/${index}`, { $ref: "#/x" }])),
          x: { parameters: range(5_000).map(() => ({ $ref: "#/p" })), get: {} },
          p: query(0),
        }),
      /shared by too many/,
    ],
  ])("are refused in good time: %s", (_, document, message) => {
    const made = document();
    const start = performance.now();
    expect(refused(made).message).toMatch(message);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it("take data nested without end for nothing", async () => {
    const { manifest } = imported(v31(answering({ example: deep, default: deep })));
    await expectPublishable(manifest);
  });

  it("give no more warnings than one can read", () => {
    const paths = Object.fromEntries(range(500).map((index) => [`/${index}`, { get: { operationId: "x" } }]));
    const { warnings } = imported(v31({ paths }));
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toMatch(/399 more/);
  });

  it("cannot reach the prototype of anything", () => {
    const properties = JSON.parse(
      '{"__proto__": {"type": "string"}, "a": {"__proto__": 1, "default": {"__proto__": 2}}}',
    );
    const { outputSchema } = only(v31(answering({ properties })));
    expect(outputSchema).toEqual({ properties: { a: { default: {} } } });
    expect(refused(v31(at({ parameters: [{ name: "__proto__", in: "query" }] }))).message).toMatch(/__proto__/);
  });
});

describe("whatever comes in", () => {
  const words = [
    "$ref",
    "paths",
    "/a",
    "get",
    "parameters",
    "name",
    "in",
    "schema",
    "properties",
    "items",
    "allOf",
    "responses",
  ];
  const more = [
    "200",
    "content",
    "application/json",
    "requestBody",
    "security",
    "servers",
    "url",
    "components",
    "schemas",
    "A",
  ];
  const values = ["#/components/schemas/A", "#/paths", "#", "query", "path", "object", "x"];
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 8, withCrossShrink: true },
      fc.oneof(fc.constantFrom(...values), fc.boolean(), fc.integer(), fc.constant(null)),
      fc.dictionary(fc.constantFrom(...words, ...more), tie("tree"), { maxKeys: 6 }),
      fc.array(tie("tree"), { maxLength: 3 }),
    ),
  }));
  const version = fc.constantFrom<Json>(
    { swagger: "2.0" },
    { openapi: "3.0.0" },
    { openapi: "3.1.0" },
    { openapi: "3.2.0" },
  );

  it("is answered with a result", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        expect(importOpenApi(document, { server: "s" })).toHaveProperty("ok");
      }),
    );
  });

  it("is answered with references that lead somewhere, where it looks like a document", () => {
    fc.assert(
      fc.property(version, tree, tree, tree, (head, pathItem, response, schema) => {
        const paths = {
          "/a": pathItem,
          "/b": { get: { responses: { 200: response } } },
          "/c": { get: { responses: { 200: { ...json(schema), schema } } } },
        };
        const result = importOpenApi({ ...head, paths, components: { schemas: { A: schema } } }, { server: "s" });
        if (!result.ok) return;
        for (const { inputSchema, outputSchema } of result.value.manifest.operations as Operation[]) {
          expect([...dangling(inputSchema), ...dangling(outputSchema)]).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

function countOperations(document: unknown): number {
  const { paths = {} } = document as { paths?: Record<string, Json> };
  return Object.values(paths).reduce((sum, item) => sum + methods.filter((method) => method in item).length, 0);
}

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

function parsed(path: string): unknown {
  // Two of the examples are integers beyond what a double holds, which our reader refuses; quoted they are text.
  const text = readFileSync(path, "utf8").replace(/^(\s+example: )(\d{16,})$/gm, '$1"$2"');
  if (path.endsWith(".json")) return JSON.parse(text);
  const yaml = parseYaml(new TextEncoder().encode(text), { maxDepth: 100, maxBytes: defaultBounds.manifestBytes });
  if (!yaml.ok) throw new Error(yaml.error.message);
  return yaml.value.value;
}

describeFixture("public documents", "openapi", (folder) => {
  const documents = files(folder).filter((path) => /\.(?:json|yaml)$/.test(path));
  const [split, whole] = [
    documents.filter((path) => path.includes("separate")),
    documents.filter((path) => !path.includes("separate")),
  ];
  const title = (path: string): [string, string] => [path.slice(folder.length + 1), path];

  it("are all there", () => {
    expect(whole.length).toBeGreaterThan(30);
    expect(split.length).toBeGreaterThan(5);
  });

  it.each(whole.map(title))("import whole: %s", async (_, path) => {
    const document = parsed(path);
    const { manifest, counts, operations } = imported(document);
    expect(counts).toEqual({ operation: countOperations(document) });
    expect(
      operations.flatMap(({ inputSchema, outputSchema }) => [...dangling(inputSchema), ...dangling(outputSchema)]),
    ).toEqual([]);
    await expectPublishable(manifest);
  });

  it.each(split.map(title))("are refused where they are only a part: %s", (_, path) => {
    const isEntry = /swagger\.\w+$/.test(path);
    const fault = refused(parsed(path));
    expect(fault.message).toMatch(isEntry ? /leaves the document/ : /openapi or swagger/);
    if (isEntry) expect(fault.path).toBe("/paths/~1pets/get/parameters/0/$ref");
  });
});
