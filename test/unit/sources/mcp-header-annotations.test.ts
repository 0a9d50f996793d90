import { Client, InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { headerAnnotationFault } from "../../../src/sources/mcp-items.ts";

const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

const schemas: [string, unknown][] = [
  ["no annotation", object({ a: { type: "string" } })],
  ["one", object({ a: header("Region") })],
  ["one in a nested object", object({ a: object({ b: header("Region", "integer") }) })],
  ["one on a boolean", object({ a: header("Dry-Run", "boolean") })],
  ["one on a number", object({ a: header("N", "number") })],
  ["one on several types", object({ a: header("N", ["string", "null"]) })],
  ["one without a type", object({ a: { "x-mcp-header": "N" } })],
  ["one on an object", object({ a: { ...object({}), "x-mcp-header": "N" } })],
  ["one that is empty", object({ a: header("") })],
  ["one that is no text", object({ a: header(1) })],
  ["one that is null", object({ a: header(null) })],
  ["one with a space", object({ a: header("a b") })],
  ["one with a line break", object({ a: header("a\r\nb") })],
  ["one with a delimiter", object({ a: header("a:b") })],
  ["two of the same name", object({ a: header("N"), b: header("n") })],
  ["one at the root", object({}, { "x-mcp-header": "N" })],
  ["one in items", object({ a: { type: "array", items: header("N") } })],
  ["one in a definition", object({}, { $defs: { a: header("N") } })],
  ["one in a branch", object({}, { anyOf: [object({ a: header("N") })] })],
  ["one under a pattern", object({}, { patternProperties: { "^a": header("N") } })],
  ["one in what else there may be", object({}, { additionalProperties: header("N") })],
  ["one in a condition", object({}, { if: object({ a: header("N") }) })],
  ["a property that is called like it", object({ "x-mcp-header": { type: "string" } })],
  [
    "a keyword of another shape",
    object({}, { items: "x", allOf: { a: header("N") }, $defs: [header("N")], not: null }),
  ],
  ["properties of another shape", { type: "object", properties: [header("N")] }],
];

/** Whether the SDK's own client keeps a tool with this schema. */
async function sdkKeeps(inputSchema: unknown): Promise<boolean> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (message: JSONRPCMessage) => {
    if (!("id" in message) || message.id === undefined) return;
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [{ name: "a", inputSchema }] };
    void theirs.send({ jsonrpc: "2.0", id: message.id, result });
  };
  await theirs.start();
  const client = new Client({ name: "test", version: "1" });
  const discover = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  await client.connect(ours, { prior: { kind: "modern", discover } });
  const { tools } = await client.listTools();
  await client.close();
  return tools.length === 1;
}

describe("header annotations of a tool are judged as the SDK judges them:", () => {
  beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));
  afterEach(() => void vi.restoreAllMocks());

  it.each(schemas)("%s", async (_, schema) => {
    expect(headerAnnotationFault(schema) === undefined).toBe(await sdkKeeps(schema));
  });

  it("one at a root that is no object, which the SDK refuses for that already", () => {
    expect(headerAnnotationFault(header("N"))).toMatch(/no header can be made/);
  });

  it("some pass and some do not", () => {
    const passing = schemas.filter(([, schema]) => headerAnnotationFault(schema) === undefined);
    expect(passing.map(([name]) => name)).toEqual([
      ...["no annotation", "one", "one in a nested object", "one on a boolean", "a property that is called like it"],
      "properties of another shape",
    ]);
  });
});
