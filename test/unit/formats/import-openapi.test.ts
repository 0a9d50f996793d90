import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importOpenApi } from "../../../src/formats/openapi/import-openapi.ts";
import { defaultBounds } from "../../../src/kernel/bounds.ts";
import { parseYaml } from "../../../src/kernel/yaml.ts";
import { describeFixture } from "../../support/fixtures.ts";
import {
  at,
  dangling,
  expectPublishable,
  importedApi,
  type Json,
  json,
  membersOf,
  only,
  refusedApi,
  v20,
  v31,
  v32,
} from "../../support/importing.ts";

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
    expect(importedApi(document).counts).toEqual({ operation: 0 });
  });

  const pet = "/paths/~1pets/get";
  it.each<[string, unknown, string, RegExp]>([
    ["a list", [], "", /object/],
    ["nothing", null, "", /object/],
    ["another document", { name: "x" }, "", /not an OpenAPI document/],
    ["an unknown version", { openapi: "4.0.0", paths: {} }, "/openapi", /"4\.0\.0"/],
    ["an unknown minor version", { openapi: "3.3.0", paths: {} }, "/openapi", /"3\.3\.0"/],
    ["a version that is no text", { openapi: 3.1, paths: {} }, "/openapi", /version/],
    ["Swagger 1.2", { swagger: "1.2", paths: {} }, "/swagger", /"1\.2"/],
    ["2.0 without paths", { swagger: "2.0" }, "/paths", /no paths/],
    ["3.0 without paths", { openapi: "3.0.0" }, "/paths", /no paths/],
    ["paths that are a list", { openapi: "3.1.0", paths: [] }, "/paths", /object/],
    ["a path that is text", { openapi: "3.1.0", paths: { "/a": "x" } }, "/paths/~1a", /object/],
    ["an operation that is null", v31(at(null)), pet, /object/],
    ["parameters that are no list", v31(at({ parameters: {} })), `${pet}/parameters`, /array/],
    ["a parameter without a name", v31(at({ parameters: [{ in: "query" }] })), `${pet}/parameters/0`, /name/],
    ["a 2.0 parameter in 3.1", v31(at({ parameters: [{ name: "a", in: "body" }] })), `${pet}/parameters/0`, /"body"/],
  ])("refuses %s", (_, document, path, message) => {
    const fault = refusedApi(document);
    expect(fault).toMatchObject({ path });
    expect(fault.message).toMatch(message);
  });
});

describe("what the manifest says of the API", () => {
  it("is the document's own description", () => {
    const info = { title: "Pets", version: "1.2", description: "All\r\nof them" };
    expect(importedApi({ openapi: "3.1.0", info, paths: {} }).manifest).toEqual({
      title: "Pets",
      version: "1.2",
      description: "All\nof them",
      serverInfo: { name: "Pets", version: "1.2" },
      operations: [],
    });
  });

  it("does without", () => {
    const { manifest } = importedApi({ openapi: "3.1.0", paths: {} });
    expect(manifest).toEqual({ serverInfo: { name: "pets" }, operations: [] });
  });

  it("cuts what is too long, between characters, and says so", () => {
    const description = `${"x".repeat(65_535)}🐈🐈`;
    const { manifest, warnings } = importedApi({ openapi: "3.1.0", info: { description, version: 2.5 }, paths: {} });
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
          endpoint_path: "/pets",
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

  it("may stand behind a path that is a reference itself", () => {
    const shared = { get: { operationId: "listPets", responses: {} } };
    const { manifest } = importedApi({
      ...v31({}),
      paths: { "/a": { $ref: "#/x-items/pets" }, "/d": { get: { $ref: "#/paths/~1a/get", operationId: "other" } } },
      "x-items": { pets: shared },
    });
    expect(manifest.operations).toMatchObject([{ name: "listPets" }, { name: "other" }]);
  });

  it("may stand elsewhere in the document, its own fields first", () => {
    const parameters = [{ name: "limit", in: "query", schema: { type: "integer" } }];
    const shared = { operationId: "listPets", summary: "All", parameters, responses: {} };
    const document = v31({ ...at({ $ref: "#/x-operations/list", summary: "Pets" }), "x-operations": { list: shared } });
    expect(only(document)).toMatchObject({
      name: "listPets",
      title: "Pets",
      inputSchema: { properties: { limit: { type: "integer", "x-in": "query" } } },
      warnings: [],
    });
  });

  it.each([
    ["in another document", "operations/list.yml", /leaves the document/, "/paths/~1pets/get/$ref"],
    ["nowhere", "#/x-operations/none", /points at nothing/, "/paths/~1pets/get/$ref"],
    ["below itself", "#/paths/~1pets/get/get", /only leads to other references/, "/paths/~1pets/get/$ref"],
    ["at itself", "#/paths/~1pets/get", /only leads to other references/, "/paths/~1pets/get/$ref"],
    ["at text", "#/info/title", /an operation is an object/, "/paths/~1pets/get"],
  ])("is refused by its place where it stands %s", (_, $ref, message, path) => {
    expect(refusedApi(v31(at({ $ref })))).toEqual({ message: expect.stringMatching(message), path });
  });

  it.each<[string, Json, Json, string | undefined, string | undefined]>([
    ["its own", { summary: "Short", description: "Long" }, { description: "Path" }, "Short", "Long"],
    ["its summary", { summary: "Short", description: " " }, { description: "Path" }, "Short", "Short"],
    ["its path's", {}, { summary: "All", description: "Path" }, "All", "Path"],
    ["its path's summary", {}, { summary: "All" }, "All", "All"],
    ["nothing", {}, {}, undefined, undefined],
  ])("is described by %s", (_, own, pathItem, title, description) => {
    const operation = only(v31({ paths: { "/pets": { ...pathItem, get: own } } }));
    expect([operation.title, operation.description]).toEqual([title, description]);
  });

  it("has a parameter for each name in its path, declared or not", () => {
    const parameters = [{ name: "id", in: "path", required: true, schema: { type: "integer" } }];
    const { inputSchema, warnings } = only(v31({ paths: { "/x/{id}/{part}.{form}": { parameters, get: {} } } }));
    expect(inputSchema).toEqual({
      type: "object",
      properties: {
        id: { type: "integer", "x-in": "path" },
        part: { type: "string", "x-in": "path" },
        form: { type: "string", "x-in": "path" },
      },
      required: ["id", "part", "form"],
    });
    expect(warnings).toEqual([
      "GET /x/{id}/{part}.{form}: {part} is not among the parameters; taken as a required string",
      "GET /x/{id}/{part}.{form}: {form} is not among the parameters; taken as a required string",
    ]);
  });

  it("is called where the importer says, whatever the document says", () => {
    const document = v31({ ...at({}), servers: [{ url: "https://doc.example/v1" }] });
    const result = importOpenApi(document, { server: "pets", endpointUrl: "https://user:pw@mine.example/api/" });
    expect(result.ok && result.value.manifest.operations).toMatchObject([
      { metadata: { openapi: { base_url: "https://mine.example/api" } } },
    ]);
  });

  it.each<[string, Json, string]>([
    ["its id", { operationId: "list.pets-v2/all" }, "list.pets-v2/all"],
    ["its id without what a name cannot hold", { operationId: "find pet by id (new)" }, "find_pet_by_id_new_"],
    ["its id cut", { operationId: "x".repeat(200) }, "x".repeat(128)],
    ["its method and path without an id", {}, "get/pets"],
    ["its method and path where the id has no letters", { operationId: "…" }, "get/pets"],
  ])("is named by %s", (_, operation, name) => {
    expect(only(v31(at(operation)))).toMatchObject({ name });
  });

  it("keeps its name from others", () => {
    const x = { get: { operationId: "a b" }, put: { operationId: "a_b" }, post: { operationId: "a_b_2" } };
    const { operations, warnings } = importedApi(v31({ paths: { "/x": x, "/y": { get: { operationId: "a/b" } } } }));
    expect(operations.map(({ name }) => name)).toEqual(["a_b", "a_b_2", "a_b_2_2", "a/b"]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/PUT \/x: the name a_b is taken, so it is called a_b_2/);
  });

  it("takes no number that another has for a name", () => {
    const ids = ["a", "a_2", "a"].map((operationId, index) => [`/${index}`, { get: { operationId } }]);
    const { operations } = importedApi(v31({ paths: Object.fromEntries(ids) }));
    expect(operations.map(({ name }) => name)).toEqual(["a", "a_2", "a_3"]);
  });

  it("keeps a long name from others that begin alike", () => {
    const operation = { get: { operationId: "x".repeat(200) } };
    const { operations } = importedApi(v31({ paths: { "/a": operation, "/b": operation, "/c": operation } }));
    const stem = "x".repeat(120);
    expect(operations.map(({ name }) => name)).toEqual(["x".repeat(128), `${stem}_2`, `${stem}_3`]);
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
    const operation = only(v32(at({}, method)));
    expect(operation).toMatchObject({ annotations, effects: ["network_request", ...effects] });
    expect(operation.metadata.openapi.endpoint_method).toBe(method.toUpperCase());
  });

  it("may use any method from 3.2 on", () => {
    const paths = { "/x": { query: {}, additionalOperations: { COPY: { operationId: "copy" } } } };
    const { operations } = importedApi(v32({ paths }));
    expect(operations.map(({ name, metadata }) => [name, metadata.openapi.endpoint_method])).toEqual([
      ["query/x", "QUERY"],
      ["copy", "COPY"],
    ]);
    expect(importedApi(v31({ paths })).operations).toEqual([]);
  });

  it("is not a webhook or callback, but those are counted", () => {
    const post = { callbacks: { done: { "{$url}": { post: {} } }, failed: {} } };
    const { counts, warnings } = importedApi(v31({ ...at(post, "post"), webhooks: { newPet: { post: {} } } }));
    expect(counts).toEqual({ operation: 1 });
    expect(warnings).toEqual([
      expect.stringMatching(/webhooks.*1 left out/),
      expect.stringMatching(/callbacks.*2 left out/),
    ]);
  });
});

describe("what an operation returns", () => {
  const [a, b] = [{ title: "a" }, { title: "b" }];
  const as = (type: string, schema: Json) => ({ content: { [type]: { schema } } });
  it.each<[string, Json, Json | undefined]>([
    ["the first success", { 201: json(b), 200: json(a) }, a],
    ["the first success that has JSON", { 200: { description: "ok" }, 201: json(b) }, b],
    ["a range", { "2XX": json(a) }, a],
    ["the default where nothing else means success", { default: json(a), 404: json(b) }, a],
    ["nothing where success has no content", { 204: {}, default: json(b) }, undefined],
    ["nothing where it is not JSON", { 200: as("text/csv", a) }, undefined],
    ["a vendor's JSON", { 200: as("application/vnd.x+json; v=1", a) }, a],
    ["any type", { 200: as("*/*", a) }, a],
    ["nothing without responses", {}, undefined],
  ])("is %s", (_, responses, expected) => {
    expect(only(v31(at({ responses }))).outputSchema).toEqual(expected);
  });

  const [asJson, asText] = [{ produces: ["application/json"] }, { produces: ["text/plain"] }];
  it.each<[string, Json, Json, Json | undefined]>([
    ["the schema where JSON is produced", asJson, {}, a],
    ["the schema where nobody says what is produced", {}, {}, a],
    ["nothing where the operation produces something else", asJson, asText, undefined],
    ["nothing where the document produces something else", asText, {}, undefined],
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
  const token = { auth_type: "bearer", ...header };
  it.each<[string, unknown, unknown, Json, boolean]>([
    ["a key", undefined, [{ key: [] }], key, true],
    ["a key by reference", undefined, [{ alias: [] }], key, true],
    ["a bearer token", undefined, [{ bearer: [] }], token, true],
    ["a password", undefined, [{ basic: [] }], { auth_type: "basic", ...header }, true],
    ["another scheme of HTTP", undefined, [{ digest: [] }], header, true],
    ["OAuth", undefined, [{ oauth: ["read"] }], { auth_type: "oauth2", ...header }, true],
    ["OpenID", undefined, [{ oidc: [] }], { auth_type: "openid", ...header }, true],
    ["a certificate", undefined, [{ mtls: [] }], {}, true],
    ["what the document says", [{ bearer: [] }], undefined, token, true],
    ["the operation before the document", [{ bearer: [] }], [{ key: [] }], key, true],
    ["nobody in particular, by an empty list", [{ bearer: [] }], [], {}, false],
    ["anyone, with a token if there is one", undefined, [{}, { bearer: [] }], token, false],
    ["the first of several", undefined, [{ key: [] }, { bearer: [] }], key, true],
    ["a scheme that is not there", undefined, [{ nope: [] }], {}, true],
    ["nothing", undefined, undefined, {}, false],
  ])("is said of %s", (_, all, own, expected, isSecured) => {
    const document = v31({ ...at({ security: own }), security: all, components: { securitySchemes: schemes } });
    const { metadata, effects } = only(document);
    const said = Object.entries(metadata.openapi).filter(([field]) => field.startsWith("auth_"));
    expect(Object.fromEntries(said)).toEqual(expected);
    expect(effects.includes("auth_required")).toBe(isSecured);
  });

  it.each<[string, Json]>([
    ["own", { auth_type: "api_key", auth_location: "header", auth_param_name: "X-Key" }],
    ["plain", { auth_type: "basic", ...header }],
  ])("is said of a 2.0 scheme: %s", (name, expected) => {
    const securityDefinitions = { own: { type: "apiKey", in: "header", name: "X-Key" }, plain: { type: "basic" } };
    const { metadata } = only(v20({ ...at({ security: [{ [name]: [] }] }), securityDefinitions }));
    expect(metadata.openapi).toMatchObject(expected);
  });
});

describe("where the API is", () => {
  const found = "https://docs.example.com/specs/pets.json";
  const on = (...urls: string[]) => ({ servers: urls.map((url) => ({ url })) });
  const variable = { url: "https://{region}.example/{v}", variables: { region: { default: "eu" } } };
  const path = { paths: { "/x": { ...on("https://path.example"), get: {} } } };
  const both = { paths: { "/x": { ...on("https://path.example"), get: on("https://op.example") } } };
  const host = { host: "a.example", schemes: ["http"] };
  it.each<[string, Json, string | undefined, string | undefined]>([
    ["the first server", v31({ ...at({}), ...on("https://a.example/v1/", "/") }), undefined, "https://a.example/v1"],
    ["the operation's", v31({ ...at(on("https://op.example")), ...on("/") }), undefined, "https://op.example"],
    ["the operation's before the path's", v31(both), undefined, "https://op.example"],
    ["the path's", v31({ ...path, ...on("/") }), undefined, "https://path.example"],
    ["filled in", v31({ ...at({}), servers: [variable] }), undefined, "https://eu.example/{v}"],
    ["below where it was found", v31({ ...at({}), ...on("../v2") }), found, "https://docs.example.com/v2"],
    ["where it was found", v31(at({})), found, "https://docs.example.com"],
    ["a relative path", v31({ ...at({}), ...on("/v2") }), undefined, "/v2"],
    ["unknown", v31(at({})), undefined, undefined],
    ["a host of 2.0", v20({ ...at({}), ...host, basePath: "/v1" }), undefined, "http://a.example/v1"],
    ["a host by https", v20({ ...at({}), ...host, schemes: ["http", "https"] }), undefined, "https://a.example"],
    ["a host as the operation says", v20({ ...at({ schemes: ["wss"] }), ...host }), undefined, "wss://a.example"],
    ["a base path where it was found", v20({ ...at({}), basePath: "/v1" }), found, "https://docs.example.com/v1"],
    ["a base path alone", v20({ ...at({}), basePath: "/v1" }), undefined, "/v1"],
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

it("gives no more warnings than one can read", () => {
  const paths = membersOf(
    500,
    (index) => `/${index}`,
    () => ({ get: { operationId: "x" } }),
  );
  const { warnings } = importedApi(v31({ paths }));
  expect(warnings).toHaveLength(101);
  expect(warnings.at(-1)).toMatch(/399 more/);
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
  // One of the examples is an integer beyond what a double holds, which our reader refuses; quoted it is text.
  const text = readFileSync(path, "utf8").replace(/^(\s+example: )(\d{16,})$/gm, '$1"$2"');
  if (path.endsWith(".json")) return JSON.parse(text);
  const yaml = parseYaml(new TextEncoder().encode(text), { maxDepth: 100, maxBytes: defaultBounds.manifestBytes });
  if (!yaml.ok) throw new Error(yaml.error.message);
  return yaml.value.value;
}

describeFixture("public documents", "openapi", (folder) => {
  const documents = files(folder).filter((path) => /\.(?:json|yaml)$/.test(path));
  const { split = [], whole = [] } = Object.groupBy(documents, (path) =>
    path.includes("separate") ? "split" : "whole",
  );
  const titled = (path: string): [string, string] => [path.slice(folder.length + 1), path];

  it("are all there", () => {
    expect(whole.length).toBeGreaterThan(30);
    expect(split.length).toBeGreaterThan(5);
  });

  it.each(whole.map(titled))(
    "import whole: %s",
    async (_, path) => {
      const document = parsed(path);
      const { manifest, counts, operations } = importedApi(document);
      expect(counts).toEqual({ operation: countOperations(document) });
      expect(operations.flatMap(dangling)).toEqual([]);
      await expectPublishable(manifest);
    },
    30_000,
  );

  it.each(split.map(titled))("are refused where they are only a part: %s", (_, path) => {
    const isEntry = /swagger\.\w+$/.test(path);
    const fault = refusedApi(parsed(path));
    expect(fault.message).toMatch(isEntry ? /leaves the document/ : /not an OpenAPI document/);
    expect(fault.path).toBe(isEntry ? "/paths/~1pets/get/parameters/0/$ref" : "");
  });
});
