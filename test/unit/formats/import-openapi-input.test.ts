import { describe, expect, it } from "vitest";
import { at, type Json, json, only, v20, v31 } from "../../support/importing.ts";

const taking = (parameters: unknown[], more: Json = {}) => only(v31(at({ parameters, ...more })));

describe("the parameters of an operation", () => {
  it("are its properties, wherever the request carries them", () => {
    const { inputSchema } = taking([
      { name: "id", in: "path", schema: { type: "integer" } },
      {
        name: "limit",
        in: "query",
        required: true,
        description: "a\r\nb",
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
        limit: { type: "integer", description: "a\nb", "x-in": "query" },
        "X-Trace": { deprecated: true, examples: ["t1"], "x-in": "header" },
        session: { type: "object", "x-in": "cookie" },
      },
      required: ["id", "limit"],
    });
  });

  it("include the path's unless it has its own", () => {
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

  it("are told apart by where they are, and the path keeps its name", () => {
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
});

describe("the body of an operation", () => {
  const properties = { name: { type: "string" }, age: {} };
  const pet = { type: "object", properties, required: ["name"] };
  const open = { ...pet, additionalProperties: { type: "string" } };
  const none = { type: "object", properties: {} };
  const counted = { ...pet, minProperties: 1 };
  const orNull = { ...pet, type: ["object", "null"] };
  const id = { "x-in": "path" };
  const sending = (schema: unknown, more: Json) =>
    taking([{ name: "id", in: "path" }], { requestBody: { ...json(schema), ...more } });

  it.each<[string, unknown, Json, Json, string[]]>([
    ["spread out", pet, { required: true }, { id, ...properties }, ["id", "name"]],
    ["spread out and optional", pet, {}, { id, ...properties }, ["id"]],
    ["under body, as a list", { type: "array" }, { required: true }, { id, body: { type: "array" } }, ["id", "body"]],
    ["under body, where it may be null", orNull, {}, { id, body: orNull }, ["id"]],
    ["under body, where it takes any property", { type: "object" }, {}, { id, body: { type: "object" } }, ["id"]],
    ["under body, where it has no property", none, {}, { id, body: none }, ["id"]],
    ["under body, where it counts its properties", counted, {}, { id, body: counted }, ["id"]],
    ["under body, where other properties have a schema", open, {}, { id, body: open }, ["id"]],
    ["under body, where it is put together", { allOf: [pet] }, {}, { id, body: { allOf: [pet] } }, ["id"]],
    [
      "under body, beside a parameter",
      { properties: { id: {} } },
      {},
      { id, body: { properties: { id: {} } } },
      ["id"],
    ],
  ])("is %s", (_, schema, more, expected, required) => {
    expect(sending(schema, more).inputSchema).toEqual({ type: "object", properties: expected, required });
  });

  it("closes the whole where it is closed", () => {
    expect(sending({ ...pet, additionalProperties: false }, {}).inputSchema).toMatchObject({
      properties: { id, ...properties },
      additionalProperties: false,
    });
  });

  it("comes with a warning where a name stood in the way", () => {
    expect(sending({ properties: { id: {} } }, {}).warnings).toEqual([expect.stringMatching(/has a id of its own/)]);
    const { inputSchema } = taking([{ name: "body", in: "query" }], { requestBody: json({ type: "array" }) });
    expect(Object.keys(inputSchema.properties)).toEqual(["body", "request_body"]);
  });

  const vendor = "application/merge-patch+json; charset=utf-8";
  it.each<[string, string[], string, string | undefined]>([
    ["JSON", ["text/plain", "application/json"], "application/json", undefined],
    ["a vendor's JSON", ["text/plain", vendor], vendor, undefined],
    ["a form", ["text/plain", "multipart/form-data"], "multipart/form-data", "multipart/form-data"],
    ["what there is", ["text/plain", "text/csv"], "text/plain", "text/plain"],
  ])("is %s before others", (_, types, taken, named) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema: { title: type } }]));
    const { inputSchema, metadata } = taking([], { requestBody: { content } });
    expect(inputSchema.properties.body).toEqual({ title: taken });
    expect(metadata.openapi.content_type).toBe(named);
  });

  it("may be bytes without a schema", () => {
    const { inputSchema } = taking([], { requestBody: { content: { "image/png": {} } } });
    expect(inputSchema.properties.body).toEqual({ type: "string", contentMediaType: "image/png" });
  });

  it("is a parameter in 2.0", () => {
    const body = { name: "pet", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } };
    const query = { name: "tags", in: "query", type: "array", items: { type: "string" }, collectionFormat: "csv" };
    const { inputSchema } = only(v20({ ...at({ parameters: [body, query] }, "post"), definitions: { Pet: pet } }));
    const tags = { type: "array", items: { type: "string" }, collectionFormat: "csv", "x-in": "query" };
    expect(inputSchema).toEqual({ type: "object", properties: { tags, ...properties }, required: ["name"] });
  });

  it("is many parameters as a 2.0 form", () => {
    const photo = { name: "photo", in: "formData", type: "file", required: true };
    const caption = { name: "caption", in: "formData", type: "string" };
    const form = (parameters: Json[], more: Json = {}) => only(v20({ ...at({ parameters }, "post"), ...more }));
    expect(form([photo, caption])).toMatchObject({
      inputSchema: {
        properties: {
          photo: { type: "string", format: "binary", "x-in": "formData" },
          caption: { type: "string", "x-in": "formData" },
        },
        required: ["photo"],
      },
      metadata: { openapi: { content_type: "multipart/form-data" } },
    });
    expect(form([caption]).metadata.openapi.content_type).toBe("application/x-www-form-urlencoded");
    const consumes = ["application/json", "multipart/form-data"];
    expect(form([caption], { consumes }).metadata.openapi.content_type).toBe("multipart/form-data");
  });
});
