import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, Registry, token } from "../support/registry.ts";

/** Documents that cannot be imported, with what their sender is told. */

const registry = new Registry();
let member: string;

const server = capabilities("malformed", "kept");
const read = async () => (await registry.send("GET", server, { token: member })).body.data;

beforeAll(async () => {
  member = await token({ tenants: ["malformed"] });
  const body = { tools: [{ name: "kept_tool" }], operations: [{ name: "kept_operation" }] };
  await registry.send("PUT", server, { token: member, body });
});

const paths = (value: unknown, rest = {}) => JSON.stringify({ openapi: "3.1.0", info: {}, paths: value, ...rest });
const get = (operation: unknown, rest = {}) => paths({ "/a": { get: operation } }, rest);
const ring = { a: { $ref: "#/components/parameters/b" }, b: { $ref: "#/components/parameters/a" } };
const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
const bomb = [
  "a: &a [x, x, x, x, x, x, x, x, x, x]",
  ...Array.from(
    { length: 9 },
    (_, level) => `${"bcdefghij"[level]}: &${"bcdefghij"[level]} [${Array(10).fill(`*${"abcdefghi"[level]}`)}]`,
  ),
].join("\n");
const types = {
  rtfs: "application/rtfs",
  json: "application/json",
  yaml: "application/yaml",
  sdl: "application/graphql",
};
const schema = (value: unknown) => JSON.stringify({ data: { __schema: value } });

type Row = [what: string, format: string, type: keyof typeof types, body: string, status: number, message: string];

const rtfs: Row[] = [
  [
    "nothing",
    "rtfs",
    "rtfs",
    "",
    400,
    'the text holds no (capability "id" …) and no {:type "capability" :id "id" …} at line 1, column 1',
  ],
  [
    "prose",
    "rtfs",
    "rtfs",
    "hello world",
    400,
    'the text holds no (capability "id" …) and no {:type "capability" :id "id" …} at line 1, column 1',
  ],
  [
    "an open list",
    "rtfs",
    "rtfs",
    '\n (capability "a"',
    400,
    "the list that starts here is never closed at line 2, column 2",
  ],
  [
    "an open string",
    "rtfs",
    "rtfs",
    '(capability "a"\n  :name "b)',
    400,
    "the string that starts here is never closed at line 2, column 9",
  ],
  [
    "an open regular expression",
    "rtfs",
    "rtfs",
    '(capability "a"\n  :x #"b)',
    400,
    "the regular expression that starts here is never closed at line 2, column 6",
  ],
  [
    "another bracket",
    "rtfs",
    "rtfs",
    '(capability "a"\n  :x [1 2)',
    400,
    "expected ] to close a vector, found ) at line 2, column 10",
  ],
  ["a bracket too many", "rtfs", "rtfs", '(capability "a"))', 400, 'unmatched ")" at line 1, column 17'],
  [
    "an escape that is none",
    "rtfs",
    "rtfs",
    '(capability "a"\n  :name "\\q")',
    400,
    "invalid escape sequence at line 2, column 10",
  ],
  [
    "a map with an odd key",
    "rtfs",
    "rtfs",
    '(capability "a" :metadata\n {:a 1 :b})',
    400,
    "the map holds an odd number of forms: :b has no value at line 2, column 8",
  ],
  [
    "a key twice",
    "rtfs",
    "rtfs",
    '(capability "a"\n :name "x" :name "y")',
    400,
    "name is given twice at line 2, column 12",
  ],
  [
    "a key twice in a map",
    "rtfs",
    "rtfs",
    '(capability "a" :metadata {:a 1\n :a 2})',
    400,
    "the key :a is given twice at line 2, column 2",
  ],
  [
    "a key without a value",
    "rtfs",
    "rtfs",
    '(capability "a" :name)',
    400,
    "the key :name has no value at line 1, column 17",
  ],
  [
    "no id",
    "rtfs",
    "rtfs",
    "(capability :name 1)",
    400,
    "a capability starts with its id, a string at line 1, column 13",
  ],
  [
    "a map without an id",
    "rtfs",
    "rtfs",
    '(do\n {:type "capability" :name "x"})',
    400,
    "a capability written as a map has its :id, a string at line 2, column 2",
  ],
  ["513 levels", "rtfs", "rtfs", nested(513, "(", ")"), 400, "nested deeper than 512 levels at line 1, column 513"],
];

const openapi: Row[] = [
  ["nothing", "openapi", "json", "", 400, "Invalid JSON: The document is empty (line 1, column 1)"],
  [
    "half a document",
    "openapi",
    "json",
    '{"openapi": "3.1.0",\n "paths": {',
    400,
    "Invalid JSON: Expected a key in double quotes (line 2, column 12)",
  ],
  [
    "a comma too many",
    "openapi",
    "json",
    '{"openapi": "3.1.0",\n}',
    400,
    "Invalid JSON: Expected a key in double quotes, found }: remove the comma before it (line 2, column 1)",
  ],
  [
    "a key twice",
    "openapi",
    "json",
    '{"openapi": "3.1.0", "openapi": "3.0.0"}',
    400,
    "/openapi This key appears twice in its object",
  ],
  [
    "65 levels",
    "openapi",
    "json",
    nested(65, "[", "]"),
    400,
    "Invalid JSON: Nested deeper than 64 levels (line 1, column 65)",
  ],
  ["half of YAML", "openapi", "yaml", "openapi: 3.1.0\npaths: {/a: ", 400, "end with a } at line 2, column 13"],
  [
    "YAML with a tab",
    "openapi",
    "yaml",
    "openapi: 3.1.0\npaths:\n\t/a: {}",
    400,
    "Invalid YAML: Tabs are not allowed as indentation at line 3, column 1",
  ],
  ["a YAML bomb", "openapi", "yaml", bomb, 400, "Invalid YAML: aliases expand to too much data"],
  ["a list", "openapi", "json", "[]", 400, "an OpenAPI document is an object"],
  [
    "no version",
    "openapi",
    "json",
    "{}",
    400,
    "this is not an OpenAPI document: `openapi` (3.x) or `swagger` (2.0) is missing",
  ],
  [
    "another version",
    "openapi",
    "json",
    '{"openapi": "4.0.0"}',
    400,
    'version "4.0.0" is not known; 2.0, 3.0, 3.1 and 3.2 are at /openapi',
  ],
  ["no paths", "openapi", "json", '{"swagger": "2.0"}', 400, "there are no paths at /paths"],
  ["paths that are a list", "openapi", "json", paths([]), 400, "paths must be an object at /paths"],
  [
    "a path that is text",
    "openapi",
    "json",
    paths({ "/a": "x" }),
    400,
    "a path holds an object of operations at /paths/~1a",
  ],
  ["an operation that is text", "openapi", "json", get("x"), 400, "an operation is an object at /paths/~1a/get"],
  [
    "an operation elsewhere",
    "openapi",
    "json",
    get({ $ref: "ops/a.yml" }),
    400,
    'the reference "ops/a.yml" leaves the document; only references inside it are followed at /paths/~1a/get/$ref',
  ],
  [
    "a schema elsewhere",
    "openapi",
    "json",
    get({ responses: { 200: { content: { "application/json": { schema: { $ref: "a.json" } } } } } }),
    400,
    'the reference "a.json" leaves the document; only references inside it are followed at /paths/~1a/get/responses/200/content/application~1json/schema/$ref',
  ],
  [
    "a reference to nothing",
    "openapi",
    "json",
    get({ parameters: [{ $ref: "#/nothing" }] }),
    400,
    'the reference "#/nothing" points at nothing at /paths/~1a/get/parameters/0/$ref',
  ],
  [
    "references in a ring",
    "openapi",
    "json",
    get({ parameters: [ring.a] }, { components: { parameters: ring } }),
    400,
    "this reference only leads to other references at /paths/~1a/get/parameters/0/$ref",
  ],
  [
    "a parameter without a name",
    "openapi",
    "json",
    get({ parameters: [{ in: "query" }] }),
    400,
    "a parameter is an object with a name and a place it is in at /paths/~1a/get/parameters/0",
  ],
  [
    "a parameter in no place",
    "openapi",
    "json",
    get({ parameters: [{ name: "a", in: "air" }] }),
    400,
    'unknown parameter location "air" at /paths/~1a/get/parameters/0',
  ],
  ["no operations", "openapi", "json", paths({}), 422, "the document has nothing to import, so nothing was changed"],
];

const graphql: Row[] = [
  ["nothing", "graphql", "sdl", "", 400, "Syntax Error: Unexpected <EOF>. at line 1, column 1"],
  [
    "half a type",
    "graphql",
    "sdl",
    "type Query {\n  a: ",
    400,
    "Syntax Error: Expected Name, found <EOF>. at line 2, column 6",
  ],
  [
    "an unknown type",
    "graphql",
    "sdl",
    "type Query {\n  a: Nothing\n}",
    400,
    "unknown type Nothing at line 2, column 6",
  ],
  [
    "a type twice",
    "graphql",
    "sdl",
    "type Query { a: Int }\ntype Query { b: Int }",
    400,
    "the type Query is defined twice at line 2, column 6",
  ],
  [
    "a field twice",
    "graphql",
    "sdl",
    "type Query {\n a: Int\n a: ID }",
    400,
    "a is defined twice, and differs at line 3, column 2",
  ],
  [
    "an input as a result",
    "graphql",
    "sdl",
    "input I { a: Int }\ntype Query { a: I }",
    400,
    "I is not an output type at line 2, column 17",
  ],
  [
    "a query",
    "graphql",
    "sdl",
    "{ viewer { login } }",
    400,
    "this is a query, not part of a schema at line 1, column 1",
  ],
  [
    "a schema without operations",
    "graphql",
    "sdl",
    "type Pet { id: ID }",
    400,
    "the schema has no query, mutation or subscription at line 1, column 1",
  ],
  [
    "too many tokens",
    "graphql",
    "sdl",
    `type Query { ${"a:Int ".repeat(100_000)} }`,
    422,
    "the schema has more than 80000 tokens (sdlTokens: 80000) at line 1, column 160006",
  ],
  [
    "nested lists",
    "graphql",
    "sdl",
    `type Query { a: ${nested(50_000, "[", "]")} }`,
    400,
    "the schema is nested too deeply at line 1, column 216",
  ],
  [
    "no introspection",
    "graphql",
    "json",
    '{"data": {}}',
    400,
    "there is no __schema: this is not the answer to an introspection query at /data",
  ],
  [
    "types that are no list",
    "graphql",
    "json",
    schema({ types: {} }),
    400,
    "types must be an array at /data/__schema/types",
  ],
  [
    "a type without a kind",
    "graphql",
    "json",
    schema({ queryType: { name: "Q" }, types: [{ name: "Q" }] }),
    400,
    "at /data/__schema",
  ],
  ["half an answer", "graphql", "json", '{"data": {"__schema"', 400, "Invalid JSON: Expected ':' (line 1, column 21)"],
];

describe.each([
  ["RTFS", rtfs],
  ["OpenAPI", openapi],
  ["GraphQL", graphql],
])("malformed %s", (_, rows) => {
  it.each(rows)(
    "%s is refused by its place, and changes nothing",
    async (_what, format, type, body, status, message) => {
      const before = await read();
      const answer = await registry.send("POST", `/api/import/${format}?tenant=malformed&name=kept`, {
        token: member,
        body,
        headers: { "Content-Type": types[type] },
      });
      expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(message)]);
      expect(await read()).toEqual(before);
    },
  );
});
