import { describe, expect, it } from "vitest";
import { migrate, printRtfs, readRtfs } from "../../../src/formats/rtfs/index.ts";

const read = (text: string) => {
  const result = readRtfs(text);
  if (!result.ok) throw new Error(`${result.error.line}:${result.error.column} ${result.error.message}`);
  return result.value;
};
const one = (fields: string) => read(`(capability "mcp.github.list_issues"\n${fields})`).capabilities[0];
const warnings = (fields: string) => read(`(capability "x"\n${fields})`).warnings;
const schema = (type: string) => one(`:input-schema ${type}`)?.inputSchema;

describe("a capability in the hierarchical layout", () => {
  it("is read for an MCP tool", () => {
    const document = read(`(capability "mcp.github.list_issues"
      :name "list_issues"
      :version "1.0.0"
      :description "List issues"
      :provider "MCP"
      :permissions [:network.http]
      :effects [:network_request :mcp_call]
      :metadata {
        :mcp {
          :server_url "https://mcp.example/"
          :requires_session "auto"              ; "auto" | "true" | "false"
        }
        :discovery {
          :method "mcp_introspection"
          :created_at "2025-10-23T20:57:22.379849546+00:00"
        }
      }
      :input-schema {
        :owner :string
        :state :string ;; optional
      }
      :output-schema [:vector :map]
      :implementation
        (fn [input] ...))`);
    expect(document).toEqual({
      capabilities: [
        {
          id: "mcp.github.list_issues",
          name: "list_issues",
          version: "1.0.0",
          description: "List issues",
          provider: "MCP",
          permissions: ["network.http"],
          effects: ["network_request", "mcp_call"],
          metadata: {
            mcp: { server_url: "https://mcp.example/", requires_session: "auto" },
            discovery: { method: "mcp_introspection", created_at: "2025-10-23T20:57:22.379849546+00:00" },
            rtfs: { comments: ['"auto" | "true" | "false"'] },
          },
          inputSchema: {
            type: "object",
            properties: { owner: { type: "string" }, state: { type: "string" } },
            required: ["owner"],
          },
          outputSchema: { type: "array", items: { type: "object" } },
          implementation: "(fn [input] ...)",
        },
      ],
      warnings: [],
    });
  });

  it("is read for an API's operation", () => {
    const [capability] = read(`(capability "weather_api.get_forecast"
      :name "Get 5 Day Weather Forecast"
      :version "2.5"
      :metadata {:openapi {:endpoint_method "GET" :endpoint_path "/data/2.5/forecast" :api_version 2.50}}
      :input-schema {
        :lat :float ;; optional
      }
      :output-schema {:cnt :int :list [:vector :map]})`).capabilities;
    expect(capability).toEqual({
      id: "weather_api.get_forecast",
      name: "Get 5 Day Weather Forecast",
      version: "2.5",
      metadata: { openapi: { endpoint_method: "GET", endpoint_path: "/data/2.5/forecast", api_version: "2.50" } },
      inputSchema: { type: "object", properties: { lat: { type: "number" } } },
      outputSchema: {
        type: "object",
        properties: { cnt: { type: "integer" }, list: { type: "array", items: { type: "object" } } },
        required: ["cnt", "list"],
      },
    });
  });

  it("is read for a GraphQL operation", () => {
    const graphql = { operation_type: "query", schema_hash: "abc", requires_introspection: true };
    const written = ':metadata {:graphql {:operation_type :query :schema_hash "abc" :requires_introspection true}}';
    expect(one(written)?.metadata).toEqual({ graphql });
  });

  it("goes by what follows the id's last dot where it has no name", () => {
    expect(one("")).toEqual({ id: "mcp.github.list_issues", name: "list_issues" });
    expect(read('(capability "plain")').capabilities).toEqual([{ id: "plain", name: "plain" }]);
  });

  it("keeps keys it does not know, as they are written", () => {
    expect(one(':cost-model {:per_call 0.5 "free text" [1 nil :x]} :tags #{:a} :gone nil')).toMatchObject({
      "cost-model": { per_call: 0.5, "free text": [1, null, "x"] },
      tags: ["a"],
      gone: null,
    });
  });

  it("keeps code as text and never as anything else", () => {
    expect(one(":implementation (do ;; why\n  (f x))")?.implementation).toBe("(do ;; why\n  (f x))");
    expect(one(':implementation "function () {}"')?.implementation).toBe("function () {}");
    expect(one(":implementation nil")).not.toHaveProperty("implementation");
    expect(one(":guard (fn [x] x)")).toMatchObject({ guard: "(fn [x] x)" });
    expect(warnings(":guard (fn [x] x)")).toEqual([{ line: 2, column: 8, message: expect.stringMatching(/code/) }]);
  });

  it("has text where text is meant", () => {
    expect(one(":version 2.50 :name :short :effects :pure")).toMatchObject({
      version: "2.50",
      name: "short",
      effects: ["pure"],
    });
    expect(one(":metadata {:mcp {:requires_session true}}")?.metadata).toEqual({ mcp: { requires_session: "true" } });
  });

  it("keeps numbers that JSON cannot hold as text", () => {
    expect(one(":metadata {:a {:big 12345678901234567890 :huge 1e999 :fine 1e21}}")?.metadata).toEqual({
      a: { big: "12345678901234567890", huge: "1e999", fine: 1e21 },
    });
    expect(warnings(":metadata {:a 12345678901234567890}")).toMatchObject([{ line: 2, column: 15 }]);
  });

  it("may not replace what objects inherit", () => {
    const metadata = one(':metadata {:__proto__ {:polluted true} "constructor" 1}')?.metadata ?? {};
    expect(Object.keys(metadata)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("says when two keys become one, and when metadata is no map", () => {
    const twice = expect.stringMatching(/the key a is given twice/);
    expect(warnings(':metadata {:a 1 "a" 2}')).toEqual([{ line: 2, column: 17, message: twice }]);
    expect(warnings(":metadata 1")).toEqual([{ line: 2, column: 11, message: "metadata is not a map: left out" }]);
  });
});

describe("several capabilities", () => {
  it("are read from one text, and from modules", () => {
    const document = read(`
      (capability "a")
      (do (def x 1)
        (module m [(capability "b") (do (capability "c"))]))
      (def y 2)`);
    expect(document.capabilities.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(document.warnings).toEqual([{ line: 5, column: 7, message: "(def y 2) holds no capability: left out" }]);
  });

  it("may be written as maps", () => {
    const document = read(`(do
      {:type "capability" :id "mcp.do.one" :name "One" :input-schema {:a :int}}
      [{:type :capability "id" "github/two"}]
      {:type "other" :parts [{:id "three" :type "capability"}]})`);
    expect(document.warnings).toEqual([]);
    expect(document.capabilities).toMatchObject([
      { id: "mcp.do.one", name: "One", inputSchema: { required: ["a"] } },
      { id: "github/two", name: "two" },
      { id: "three", name: "three" },
    ]);
    expect(document.capabilities[0]).not.toHaveProperty("type");
  });

  it("may be none", () => {
    expect(read("; nothing\n")).toMatchObject({ capabilities: [], warnings: [{ line: 1, column: 1 }] });
  });
});

describe("a text with quotes that are not escaped", () => {
  it("is read to the next keyword, with a warning", () => {
    const text = '(capability "x"\n  :description "If "event" and ":body" are given,\n"go"."\n  :provider "MCP")';
    expect(read(text)).toEqual({
      capabilities: [{ id: "x", name: "x", description: 'If "event" and ":body" are given,\n"go".', provider: "MCP" }],
      warnings: [{ line: 2, column: 16, message: expect.stringMatching(/:description .* not escaped/) }],
    });
  });

  it("shows by what follows without a gap", () => {
    expect(one(':description "":body" is sent" :version "1"')).toMatchObject({
      description: '":body" is sent',
      version: "1",
    });
    expect(one(':description "a""b" :version "1"')).toMatchObject({ description: 'a""b', version: "1" });
    expect(one(':description "a" "free key" 1')).toMatchObject({ description: "a", "free key": 1 });
  });

  it("still has the escapes it has", () => {
    expect(one(':description "a "b" \\"c\\"\\n"')?.description).toBe('a "b" "c"\n');
  });
});

describe("type notation", () => {
  it.each([
    [":string", { type: "string" }],
    [":int", { type: "integer" }],
    [":float", { type: "number" }],
    [":bool", { type: "boolean" }],
    [":nil", { type: "null" }],
    [":any", {}],
    [":map", { type: "object" }],
    [":vector", { type: "array" }],
    ["[:vector]", { type: "array" }],
    ["[:vector :any]", { type: "array", items: {} }],
    ["[:vector [:vector :int]]", { type: "array", items: { type: "array", items: { type: "integer" } } }],
    ["{}", { type: "object", properties: {} }],
    ["[:map ]", { type: "object", properties: {} }],
    ["{:a :int}", { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }],
    ["{:a :int?}", { type: "object", properties: { a: { type: "integer" } } }],
    ["{:a :int ;; optional\n}", { type: "object", properties: { a: { type: "integer" } } }],
    [
      "{:a :int ; Optional, from 1\n}",
      { type: "object", properties: { a: { type: "integer", description: "from 1" } } },
    ],
    [
      "{:a :int ;; not optional\n}",
      { type: "object", properties: { a: { type: "integer", description: "not optional" } }, required: ["a"] },
    ],
    ["{:a :int\n;; optional\n}", { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }],
    [
      "{:a {:b :int\n} ;; optional\n :c :bool}",
      {
        type: "object",
        properties: {
          a: { type: "object", properties: { b: { type: "integer" } }, required: ["b"] },
          c: { type: "boolean" },
        },
        required: ["c"],
      },
    ],
    [
      "[:map [:a :string?] [:b [:vector :string]?] [:c :int] [:d :any] ;; optional\n]",
      {
        type: "object",
        properties: {
          a: { type: "string" },
          b: { type: "array", items: { type: "string" } },
          c: { type: "integer" },
          d: {},
        },
        required: ["c"],
      },
    ],
    [
      '{"free text" :int}',
      { type: "object", properties: { "free text": { type: "integer" } }, required: ["free text"] },
    ],
  ])("%s is a JSON Schema", (type, expected) => {
    expect(schema(type)).toEqual(expected);
    expect(warnings(`:input-schema ${type}`)).toEqual([]);
  });

  const string = { type: "string" };
  const integer = { type: "integer" };

  it.each([
    [":uuid", { type: "string", format: "uuid" }],
    [":set", { type: "array", uniqueItems: true }],
    ['[:enum "x" "y"]', { type: "string", enum: ["x", "y"] }],
    ["[:enum 1 2]", { type: "integer", enum: [1, 2] }],
    ['[:enum 1 "x" nil]', { enum: [1, "x", null] }],
    ['[:enum {} {\n    :a 1\n  } "x"]', { enum: [{ a: 1 }, "x"] }],
    ["[:or :string :int]", { anyOf: [string, integer] }],
    ["[:and :string :any]", { allOf: [string, {}] }],
    ["[:tuple :string :int]", { type: "array", prefixItems: [string, integer], items: false, minItems: 2 }],
    ["[:tuple]", { type: "array", maxItems: 0 }],
    ["[:maybe :string]", { type: ["string", "null"] }],
    ["[:maybe :uuid]", { anyOf: [{ type: "string", format: "uuid" }, { type: "null" }] }],
    ["[:map-of :string :int]", { type: "object", additionalProperties: integer }],
    [
      '[:map-of [:enum "a" "b"] :int]',
      { type: "object", propertyNames: { type: "string", enum: ["a", "b"] }, additionalProperties: integer },
    ],
    ["[:set :string]", { type: "array", uniqueItems: true, items: string }],
    ['[:= "z"]', { const: "z" }],
    ["[:= nil]", { const: null }],
    ['[:re "^[a-z]\\\\d+$"]', { type: "string", pattern: "^[a-z]\\d+$" }],
    ["[:string {:min 1 :max 5}]", { type: "string", minLength: 1, maxLength: 5 }],
    ["[:int {:max 100}]", { type: "integer", maximum: 100 }],
    ["[:vector {:min 1} :int]", { type: "array", items: integer, minItems: 1 }],
    ['[:string {:description "two\\nlines" :default "x"}]', { ...string, description: "two\nlines", default: "x" }],
    [
      "[:or {} {\n    :a :int\n  } :string]",
      { anyOf: [{ type: "object", properties: { a: integer }, required: ["a"] }, string] },
    ],
    [
      "[:map {:closed true}\n    [:a :string] ;; What\n    [:b {:optional true} :int]\n  ]",
      {
        type: "object",
        properties: { a: { ...string, description: "What" }, b: integer },
        required: ["a"],
        additionalProperties: false,
      },
    ],
    [
      '{\n    :state [:enum "open" "closed"] ;; optional, one of open|closed\n    :b :int ;; from 1\n  }',
      {
        type: "object",
        properties: {
          state: { type: "string", enum: ["open", "closed"], description: "one of open|closed" },
          b: { ...integer, description: "from 1" },
        },
        required: ["b"],
      },
    ],
  ])("%s is a JSON Schema, and printed as it was", (type, expected) => {
    const document = read(`(capability "x"\n  :name "x"\n  :input-schema ${type})\n`);
    expect(document).toEqual({ capabilities: [{ id: "x", name: "x", inputSchema: expected }], warnings: [] });
    const printed = `(capability "x"\n  :name "x"\n  :input-schema ${type})\n`;
    expect(printRtfs(document.capabilities)).toEqual({ text: printed, losses: [] });
  });

  it("takes optional fields and descriptions as properties too", () => {
    const type = '[:map [:a :int] [:b {:optional true :description "B"} :int] [:c {:optional false} :int]]';
    expect(schema(type)).toEqual({
      type: "object",
      properties: { a: integer, b: { ...integer, description: "B" }, c: integer },
      required: ["a", "c"],
    });
    expect(schema('[:re #"^\\d+\\"$"]')).toEqual({ type: "string", pattern: '^\\d+"$' });
  });

  it.each([
    [":instant", {}, 15, /:instant cannot be expressed/],
    ["[:enum]", {}, 15, /\[:enum\] cannot be expressed/],
    ["[:= 1 2]", {}, 15, /cannot be expressed/],
    ["[:map-of :string]", {}, 15, /cannot be expressed/],
    ["[:re 1]", {}, 15, /cannot be expressed/],
    ['[:re "(?i)a("]', { type: "string" }, 20, /is no regular expression/],
    ["[:map-of :int :string]", { type: "object", additionalProperties: { type: "string" } }, 24, /are not strings/],
    ["[:string {:gen 1}]", { type: "string" }, 25, /the property :gen of a type is not known/],
    ["[:vector :int :int]", {}, 15, /cannot be expressed/],
    ["(or :int)", {}, 15, /cannot be expressed/],
    [":constructor", {}, 15, /cannot be expressed/],
    [":string?", { type: "string" }, 15, /only a field can be optional/],
    ["[:vector :int?]", { type: "array", items: { type: "integer" } }, 24, /only a field can be optional/],
    ["[:vector [:vector]?]", { type: "array", items: { type: "array" } }, 33, /only a field can be optional/],
    ["[:map :a]", { type: "object", properties: {} }, 21, /:a is not a name with a type/],
    [
      "[:map [:a :int] [:a :int]]",
      { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
      32,
      /twice/,
    ],
  ])("%s is expressed as far as it can be, with a warning", (type, expected, column, message) => {
    expect(schema(type)).toEqual(expected);
    expect(warnings(`:input-schema ${type}`)).toEqual([{ line: 2, column, message: expect.stringMatching(message) }]);
  });
});

describe("a provider map", () => {
  it("gives the provider's name and its details", () => {
    const capability = one(`:provider {:type "mcp" :server_endpoint "https://s/" :timeout_seconds 30 :tool_name "t"}
      :metadata {:mcp {:server_url "https://s/" :tool_name "t"} :discovery {:method "m"}}`);
    expect(capability).toMatchObject({ provider: "mcp" });
    expect(capability?.metadata).toEqual({
      mcp: { server_url: "https://s/", tool_name: "t", server_endpoint: "https://s/", timeout_seconds: 30 },
      discovery: { method: "m" },
    });
  });

  it("stands in for metadata that is missing, and yields to what is there", () => {
    expect(one(':provider {:type "mcp" :server_endpoint "https://s/"}')?.metadata).toEqual({
      mcp: { server_url: "https://s/", server_endpoint: "https://s/" },
    });
    const differing = ':provider {:type "MCP" :tool_name "a"} :metadata {:mcp {:tool_name "b"}}';
    expect(one(differing)).toMatchObject({ provider: "MCP", metadata: { mcp: { tool_name: "b" } } });
    expect(warnings(differing)).toEqual([
      { line: 1, column: 1, message: expect.stringMatching(/tool_name .* differs/) },
    ]);
  });

  it("needs no type", () => {
    expect(one(':provider {:name "Acme" :tier 1}')).toMatchObject({
      provider: "Acme",
      metadata: { provider: { name: "Acme", tier: 1 } },
    });
    expect(one(":provider {:tier 1}")).not.toHaveProperty("provider");
  });
});

describe("migration from the flat layout", () => {
  it("moves provenance and provider details under metadata, and adds what was unsaid", () => {
    const capability = one(`
      :source_url "https://s/"
      :discovery_method "mcp_introspection"
      :created_at "2025-10-23T20:57:22Z"
      :capability_type "mcp_tool"
      :mcp_metadata {
        :server_url "https://s/"
        :tool_name "list_issues"
      }
      :mcp_requires_session "false"
      :mcp_auth_env_var "MY_TOKEN"`);
    expect(capability).toEqual({
      id: "mcp.github.list_issues",
      name: "list_issues",
      metadata: {
        mcp: {
          server_url: "https://s/",
          tool_name: "list_issues",
          requires_session: "false",
          auth_env_var: "MY_TOKEN",
          server_url_override_env: "MCP_SERVER_URL",
        },
        discovery: {
          method: "mcp_introspection",
          source_url: "https://s/",
          created_at: "2025-10-23T20:57:22Z",
          capability_type: "mcp_tool",
        },
      },
    });
  });

  it("knows the fields of the providers by name, and other providers by theirs", () => {
    expect(one(':base_url "https://a/" :endpoint_method "GET" :openapi_auth_type "bearer"')?.metadata).toEqual({
      openapi: { base_url: "https://a/", endpoint_method: "GET", auth_type: "bearer" },
    });
    expect(one(':endpoint_url "https://g/" :graphql_operation_type "query"')?.metadata).toEqual({
      graphql: { endpoint_url: "https://g/", operation_type: "query" },
    });
    expect(one(":my_soap_metadata {:wsdl 1} :my_soap_port 2 :other_port 3")).toMatchObject({
      metadata: { my_soap: { wsdl: 1, port: 2 } },
      other_port: 3,
    });
  });

  it("takes an operation's endpoint from the comments above it, for an API only", () => {
    const text = (method: string) =>
      `;; Base URL: https://a\n;; Endpoint: GET /p\n(capability "x" :discovery_method "${method}")`;
    expect(read(text("api_introspection")).capabilities[0]?.metadata).toEqual({
      openapi: { base_url: "https://a", endpoint_method: "GET", endpoint_path: "/p" },
      discovery: { method: "api_introspection" },
      rtfs: { comments: ["Base URL: https://a", "Endpoint: GET /p"] },
    });
    expect(read(text("web_search")).capabilities[0]?.metadata).not.toHaveProperty("openapi");
  });

  it("yields to the hierarchical layout where both speak", () => {
    const both = ':mcp_tool_name "a" :metadata {:mcp {:tool_name "b"}}';
    expect(one(both)?.metadata).toMatchObject({ mcp: { tool_name: "b" } });
    expect(warnings(both)).toEqual([{ line: 1, column: 1, message: expect.stringMatching(/tool_name .* differs/) }]);
    expect(warnings(':mcp_tool_name "a" :metadata {:mcp 1}')).toMatchObject([{ line: 1, column: 1 }]);
  });

  it("moves flat keys inside metadata into their provider", () => {
    const inside = one(`:metadata {
      :mcp_server_url "https://s/" :mcp_requires_session true :discovery_method "manual" :created_at "2025-10-23"
      :openapi {:base_url "https://a/"} :soap {:port 1} :soap_port 2 :mcp 1}`);
    expect(inside?.metadata).toEqual({
      openapi: { base_url: "https://a/" },
      soap: { port: 1 },
      soap_port: 2,
      mcp: 1,
      discovery: { method: "manual", created_at: "2025-10-23" },
    });
    expect(one(':metadata {:mcp_server_url "https://s/" :mcp_metadata {:tool_name "t"}}')?.metadata).toEqual({
      mcp: {
        server_url: "https://s/",
        tool_name: "t",
        requires_session: "auto",
        auth_env_var: "MCP_AUTH_TOKEN",
        server_url_override_env: "MCP_SERVER_URL",
      },
    });
    expect(warnings(':metadata {:mcp_server_url "a" :mcp {:server_url "b"}}')).toMatchObject([
      { message: expect.stringMatching(/server_url is given twice, and differs/) },
    ]);
    expect(warnings(':metadata {:mcp_server_url "a" :mcp 1}')).toMatchObject([
      { message: expect.stringMatching(/server_url has no place/) },
    ]);
  });

  it("leaves a hierarchical capability alone, and its own outcome too", () => {
    const hierarchical = {
      provider: "MCP",
      method: "kept",
      metadata: { discovery: { a: 1 }, mcp: { z: 1, server_url: "s" } },
    };
    expect(migrate(hierarchical).fields).toBe(hierarchical);
    const { fields } = migrate({ mcp_metadata: { tool_name: "t" }, provider: { type: "x", y: 1 } });
    expect(migrate(fields).fields).toBe(fields);
  });
});

describe("comments", () => {
  it("are kept with their capability, and printed above it", () => {
    const { capabilities, warnings: found } = read(`;; Sample output: {"a": 1}
(capability "a"
  ;; where it runs
  :metadata {:mcp {:requires_session "auto"} ; "auto" | "true"
             ;; at the end
            }
  :implementation (do ;; part of the code
    1)) ;; behind a
;; above b
(capability "b")
;; last`);
    expect(found).toEqual([]);
    expect(capabilities.map(({ metadata }) => metadata?.rtfs)).toEqual([
      { comments: ['Sample output: {"a": 1}', "where it runs", '"auto" | "true"', "at the end", "behind a"] },
      { comments: ["above b", "last"] },
    ]);
    const { text, losses } = printRtfs(capabilities);
    expect(text).toContain(';; Sample output: {"a": 1}\n;; where it runs\n');
    expect(losses).toEqual([]);
    expect(read(text).capabilities).toEqual(capabilities);
  });

  it("are reported where they cannot be kept", () => {
    expect(read(';; a\u200bb\n(capability "x")')).toEqual({
      capabilities: [{ id: "x", name: "x" }],
      warnings: [{ line: 1, column: 1, message: expect.stringMatching(/comment .* left out/) }],
    });
    const many = read(`${";; c\n".repeat(100)}(capability "x")`);
    expect(many.capabilities[0]?.metadata).toEqual({ rtfs: { comments: Array(64).fill("c") } });
    expect(many.warnings).toMatchObject([{ line: 65, message: expect.stringMatching(/more than 64 comments/) }]);
  });

  it("that describe a field twice stay with the capability", () => {
    const [capability] = read(
      '(capability "x" :input-schema [:map [:a {:description "A"} :int] ;; optional, more\n])',
    ).capabilities;
    expect(capability?.inputSchema).toEqual({
      type: "object",
      properties: { a: { type: "integer", description: "A" } },
    });
    expect(capability?.metadata).toEqual({ rtfs: { comments: ["optional, more"] } });
  });
});

describe("what the author commented out", () => {
  const ids = (text: string) => {
    const { capabilities, warnings } = read(text);
    return [capabilities.map(({ id }) => id), warnings.map(({ message }) => message)];
  };

  it.each([
    ["one form", '(capability "a1") #_(capability "a2")', ["a1"], ['(capability "a2") is commented out: left out']],
    ["a form behind a blank", '#_ (capability "a2") (capability "a1")', ["a1"], [expect.stringMatching(/"a2"/)]],
    [
      "several forms",
      '#_ #_ (capability "a2") (capability "a3") (capability "a1")',
      ["a1"],
      [expect.stringMatching(/"a2"/), expect.stringMatching(/"a3"/)],
    ],
    [
      "a comment form",
      '(capability "a1") (comment (capability "a3"))',
      ["a1"],
      ['(comment (capability "a3")) is commented out: left out'],
    ],
    [
      "a comment form inside another",
      '(do (comment (do (comment (capability "a3")) (capability "a4"))) (capability "a1"))',
      ["a1"],
      [expect.stringMatching(/commented out/)],
    ],
    ["an element", '(do #_(capability "a2") (capability "a1"))', ["a1"], [expect.stringMatching(/"a2"/)]],
    ["nothing that follows", '(capability "a1" #_)', ["a1"], []],
  ])("is left out: %s", (_, text, expected, told) => {
    expect(ids(text)).toEqual([expected, told]);
  });

  it("is left out of a capability's fields, with its comments", () => {
    const [found] = read('(capability "x" #_:name #_"no" ; kept\n :name #_(a ; not kept\n) "yes")').capabilities;
    expect(found).toMatchObject({ name: "yes", metadata: { rtfs: { comments: ["kept"] } } });
  });

  it("stays in the text of an implementation", () => {
    expect(one(":implementation (fn [x] #_(log x) x)")?.implementation).toBe("(fn [x] #_(log x) x)");
  });
});
