import { describe, expect, it } from "vitest";
import { importGraphqlIntrospection, importGraphqlSdl } from "../../../src/formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../../../src/formats/imported.ts";
import { mcpSteps } from "../../../src/formats/mcp/import-mcp.ts";
import { openApiSteps } from "../../../src/formats/openapi/import-openapi.ts";
import { importRtfs, rtfsSteps } from "../../../src/formats/rtfs/index.ts";
import { defaultBounds, importBounds } from "../../../src/kernel/bounds.ts";
import { createPace, runAtOnce, type Steps } from "../../../src/kernel/pace/pace.ts";
import type { Result } from "../../../src/kernel/result.ts";
import {
  dangling,
  expectPublishable,
  type Json,
  membersOf,
  type Operation,
  range,
  v31,
} from "../../support/importing.ts";

type Answer = Result<Imported, ImportFault>;

function accepted(answer: Answer): Operation[] {
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value.manifest.operations as Operation[];
}

function refusal(answer: Answer): ImportFault {
  if (answer.ok) throw new Error("was accepted");
  return answer.error;
}

const sizeOf = (document: unknown) => JSON.stringify(document).length;
const openApi = (document: Json, documentBytes = sizeOf(document)) =>
  runAtOnce(openApiSteps(document, { server: "s", documentBytes }));
const sdl = (text: string) => importGraphqlSdl(text, { server: "s", documentBytes: text.length });

/** Input types that all lead to each other, and an operation for each of them. */
function ring(size: number): string {
  const type = (index: number) => `T${index % size}`;
  const fields = range(size).map((index) => `q${index}(a: T${index}): Int`);
  const types = range(size).map(
    (index) => `input T${index} { a: ${type(index + 1)} b: ${type(index + 7)} c: ${type(index + 31)} d: String }`,
  );
  return `type Query { ${fields.join("\n")} }\n${types.join("\n")}`;
}

describe("types that all refer to each other", () => {
  it("become definitions, as many as the size of the document allows", async () => {
    const text = ring(250);
    expect(text.length).toBeLessThan(20_000);
    const operations = accepted(await sdl(text));
    expect(operations).toHaveLength(250);
    const definitions = operations.map(({ inputSchema }) => JSON.stringify(inputSchema.$defs).length);
    const total = definitions.reduce((sum, one) => sum + one, 0);
    expect(total).toBeLessThan(importBounds.definitionBytes + importBounds.definitionTimes * text.length);
    // The nearest type is there in full, and what is farther is open.
    expect(operations[0]?.inputSchema.$defs?.T0).toMatchObject({ properties: { a: { $ref: "#/$defs/T1" } } });
    expect(Object.values(operations[0]?.inputSchema.$defs ?? {})).toContainEqual({ type: "object", title: "T31" });
    expect(operations.flatMap(dangling)).toEqual([]);
    await expectPublishable({ operations });
  });

  it("keep all of their definitions where they are few", async () => {
    const [operation] = accepted(await sdl(ring(20)));
    expect(Object.keys(operation?.inputSchema.$defs ?? {})).toHaveLength(20);
    expect(JSON.stringify(operation)).not.toContain('"title":"T');
  });

  it("are treated alike in OpenAPI", () => {
    const ref = (index: number) => ({ $ref: `#/components/schemas/T${index % 250}` });
    const schemas = membersOf(
      250,
      (index) => `T${index}`,
      (index) => ({ type: "object", properties: { a: ref(index + 1), b: ref(index + 7), c: ref(index + 31) } }),
    );
    const paths = membersOf(
      250,
      (index) => `/${index}`,
      (index) => ({ post: { requestBody: { content: { "application/json": { schema: ref(index) } } } } }),
    );
    const document = v31({ paths, components: { schemas } });
    const operations = accepted(openApi(document));
    expect(operations).toHaveLength(250);
    expect(operations.flatMap(dangling)).toEqual([]);
    expect(sizeOf(operations)).toBeLessThan(10 * sizeOf(document));
  });
});

describe("bounds of an import: just below, and just above with bound, figure and place", () => {
  const answering = (schema: unknown) => ({ responses: { 200: { content: { "application/json": { schema } } } } });
  /** A schema of so many values: itself, its enum, and what is in it. */
  const schemaOf = (nodes: number) => ({ enum: Array(nodes - 2).fill(1) });
  /** Those of the input of an operation without parameters: the schema, its type, its properties. */
  const inputNodes = 3;
  const bound = (name: string, limit: number, found: number) => ({ bound: { name, limit, found } });

  it("values in the schemas of an operation", () => {
    const api = (nodes: number) => v31({ paths: { "/a": { get: answering(schemaOf(nodes - inputNodes)) } } });
    const limit = importBounds.schemaNodes;
    expect(accepted(openApi(api(limit)))).toHaveLength(1);
    expect(refusal(openApi(api(limit + 1)))).toEqual({
      message: `the schemas of this operation have 20001 values (schemaNodes: 20000)`,
      path: "/paths/~1a/get",
      ...bound("schemaNodes", limit, limit + 1),
    });
  });

  it("values in the schemas of all operations", () => {
    const limit = importBounds.documentNodes;
    const full = answering(schemaOf(importBounds.schemaNodes - inputNodes));
    const count = limit / importBounds.schemaNodes;
    const paths = membersOf(
      count,
      (index) => `/${index}`,
      () => ({ get: full }),
    );
    expect(accepted(openApi(v31({ paths })))).toHaveLength(count);
    const over = v31({ paths: { ...paths, "/over": { get: {} } } });
    expect(refusal(openApi(over))).toMatchObject({
      message: expect.stringContaining("have 500003 values (documentNodes: 500000)"),
      path: "/paths/~1over/get",
      ...bound("documentNodes", limit, limit + inputNodes),
    });
  });

  it("bytes of what operations share", () => {
    const parameter = { name: "q", in: "query", description: "x".repeat(10_000) };
    const get = { parameters: [{ $ref: "#/components/parameters/q" }] };
    const api = (count: number) =>
      v31({
        paths: membersOf(
          count,
          (index) => `/${index}`,
          () => ({ get }),
        ),
        components: { parameters: { q: parameter } },
      });
    const limit = importBounds.sharedBytes + importBounds.sharedTimes * 1_000;
    const [one] = accepted(openApi(api(1)));
    const each = sizeOf(one?.inputSchema);
    const count = Math.floor(limit / each);
    expect(accepted(openApi(api(count), 1_000))).toHaveLength(count);
    const found = (count + 1) * each;
    expect(refusal(openApi(api(count + 1), 1_000))).toMatchObject({
      message: expect.stringContaining(`take ${found} bytes, for a document of 1000 bytes`),
      path: `/paths/~1${count}/get`,
      ...bound("sharedBytes", limit, found),
    });
  });

  it("operations", () => {
    const api = (count: number) =>
      v31({
        paths: membersOf(
          count,
          (index) => `/${index}`,
          () => ({ get: {} }),
        ),
      });
    const limit = defaultBounds.capabilities;
    expect(accepted(openApi(api(limit)))).toHaveLength(limit);
    expect(refusal(openApi(api(limit + 1)))).toMatchObject({
      path: "/paths/~110000/get",
      ...bound("capabilities", limit, limit + 1),
    });
  });

  it("values that are visited", () => {
    // Chains of references, so that few bytes of the document visit many values; `length` sets the last hundred.
    const hops = Object.fromEntries(range(99).map((index) => [`p${index}`, { $ref: `#/x/p${index + 1}` }]));
    const x = { ...hops, p99: { name: "q", in: "query" } };
    const get = { parameters: Array(5_000).fill({ $ref: "#/x/p0" }) };
    const visiting = (parameters: unknown[]) => v31({ paths: { "/0": { get }, "/1": { get: { parameters } } }, x });
    const used = (count: number, last: number) => [
      ...Array(count).fill({ $ref: "#/x/p0" }),
      ...Array(last).fill({ $ref: "#/x/p99" }),
    ];
    const limit = importBounds.visitedValues;
    const found = (parameters: unknown[]) => {
      const answer = openApi(visiting(parameters));
      return answer.ok ? undefined : answer.error;
    };
    // The edge is found by halving, first in whole chains, then in single references.
    const most = (fits: (count: number) => boolean, upTo: number) => {
      let [low, high] = [0, upTo];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (fits(middle)) low = middle;
        else high = middle;
      }
      return low;
    };
    const chains = most((count) => found(used(count, 0)) === undefined, 6_000);
    const single = most((count) => found(used(chains, count)) === undefined, 200);
    expect(accepted(openApi(visiting(used(chains, single))))).toHaveLength(2);
    const refused = found(used(chains, single + 1));
    expect(refused).toMatchObject({
      message: expect.stringMatching(/visits 100000\d values/),
      path: expect.stringMatching(/^\/paths\/~11\/get/),
      bound: { name: "visitedValues", limit, found: expect.any(Number) },
    });
    expect(refused?.bound?.found).toBeLessThan(limit + 10);
  });

  it("comments of SDL", async () => {
    const schema = (comments: number) => `${"#\n".repeat(comments)}type Query { a: Int }`;
    const limit = importBounds.sdlComments;
    expect(accepted(await sdl(schema(limit)))).toHaveLength(1);
    expect(refusal(await sdl(schema(limit + 1)))).toMatchObject({
      message: "the schema has more than 50000 comments (sdlComments: 50000)",
      line: limit + 1,
      ...bound("sdlComments", limit, limit + 1),
    });
  });

  it("tokens of SDL", async () => {
    // type Query { a: Int } are seven, with the start of the document; each argument is three.
    const schema = (tokens: number) => `type Query { a${arguments_((tokens - 9) / 3)}: Int }`;
    const arguments_ = (count: number) => `(${range(count).map((index) => `a${index}: Int`)})`;
    const limit = importBounds.sdlTokens;
    const fits = Math.floor((limit - 9) / 3) * 3 + 9;
    expect(refusal(await sdl(schema(fits)))).toMatchObject({ bound: { name: "schemaNodes" }, line: 1, column: 14 });
    expect(refusal(await sdl(schema(fits + 3)))).toMatchObject({
      message: "the schema has more than 80000 tokens (sdlTokens: 80000)",
      line: 1,
      column: expect.any(Number),
      ...bound("sdlTokens", limit, limit + 1),
    });
  });

  it("members of an introspection result", async () => {
    const limit = importBounds.introspectedMembers;
    const query = {
      kind: "OBJECT",
      name: "Query",
      interfaces: [],
      fields: [{ name: "a", args: [], type: { kind: "SCALAR", name: "Int" } }],
    };
    const values = (count: number) => range(count).map((index) => ({ name: `V${index}` }));
    const result = (members: number) => ({
      __schema: {
        queryType: { name: "Query" },
        directives: [],
        types: [{ kind: "SCALAR", name: "Int" }, query, { kind: "ENUM", name: "E", enumValues: values(members - 4) }],
      },
    });
    expect(accepted(await importGraphqlIntrospection(result(limit), { server: "s" }))).toHaveLength(1);
    expect(refusal(await importGraphqlIntrospection(result(limit + 1), { server: "s" }))).toMatchObject({
      message: expect.stringContaining("have 60001 fields, arguments and values (introspectedMembers: 60000)"),
      path: "/__schema/types/2",
      ...bound("introspectedMembers", limit, limit + 1),
    });
  });

  it("items of MCP lists and capabilities of RTFS", () => {
    const limit = defaultBounds.capabilities;
    const lists = (count: number) => ({
      prompts: [{ name: "p" }],
      tools: range(count - 1).map((index) => ({ name: `t${index}` })),
    });
    expect(runAtOnce(mcpSteps(lists(limit), { server: "s" })).ok).toBe(true);
    expect(refusal(runAtOnce(mcpSteps(lists(limit + 1), { server: "s" })))).toMatchObject({
      message: "the lists have 10001 items (capabilities: 10000)",
      path: expect.stringMatching(/^\/(tools|prompts)$/),
      ...bound("capabilities", limit, limit + 1),
    });
    const text = (count: number) =>
      range(count)
        .map((index) => `(capability "c${index}")`)
        .join("\n");
    expect(importRtfs(text(limit)).ok).toBe(true);
    expect(refusal(importRtfs(text(limit + 1)))).toMatchObject({
      line: 10_001,
      column: 1,
      ...bound("capabilities", limit, limit + 1),
    });
  });
});

describe("an import pauses", () => {
  /** Most work between two pauses, and how many pauses there were. */
  async function paced(steps: Steps<unknown>): Promise<{ most: number; pauses: number }> {
    let [most, now, pauses] = [0, 0, 0];
    function* counted(): Steps<unknown> {
      for (const units of steps) {
        now += units;
        most = Math.max(most, now);
        yield units;
      }
      return undefined;
    }
    const pause = async () => {
      now = 0;
      pauses += 1;
    };
    await createPace({ pause, unitsPerPause: 1_000 }).run(counted());
    return { most, pauses };
  }

  const chain = membersOf(
    3_000,
    (index) => `S${index}`,
    (index) => ({
      properties: { next: { $ref: `#/components/schemas/S${index + 1}` }, text: { type: "string" } },
    }),
  );
  const long = v31({
    paths: {
      "/a": {
        get: {
          responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/S0" } } } } },
        },
      },
    },
    components: { schemas: { ...chain, S3000: {} } },
  });

  it.each<[string, Steps<unknown>]>([
    ["OpenAPI, of which one operation leads to all of it", openApiSteps(long, { server: "s" })],
    ["an MCP list", mcpSteps({ tools: range(5_000).map((index) => ({ name: `t${index}` })) }, { server: "s" })],
    [
      "RTFS",
      rtfsSteps(
        range(2_000)
          .map((index) => `(capability "c${index}" :description "x")`)
          .join("\n"),
      ),
    ],
  ])("by counted work: %s", async (_, steps) => {
    const { most, pauses } = await paced(steps);
    expect(pauses).toBeGreaterThan(5);
    // The definitions of one operation are copied in one piece, 3,000 of them here.
    expect(most).toBeLessThan(5_000);
  });

  it("around what the GraphQL package does in one piece", async () => {
    let pauses = 0;
    const pace = createPace({ pause: async () => (pauses += 1) });
    await importGraphqlSdl("type Query { a: Int }", { server: "s" }, pace);
    expect(pauses).toBe(5);
  });
});
