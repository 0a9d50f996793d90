import type { Mutator } from "./mutate.ts";

/** As much of an OpenAPI document as bad requests are made from. */
export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
}

interface OpenApiOperation {
  operationId?: string;
  parameters?: { name: string; in: string; example?: unknown; schema?: { examples?: unknown[]; enum?: unknown[] } }[];
  requestBody?: { content: Record<string, { example?: unknown; examples?: Record<string, { value?: unknown }> }> };
  responses: Record<string, unknown>;
}

export interface FuzzedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Statuses that the operation declares. */
  statuses: number[];
}

const methods = ["get", "put", "post", "patch", "delete"];

/** Documents of the imports, small and right: each is made wrong. */
const documents: [format: string, type: string, text: string][] = [
  ["rtfs", "application/rtfs", '(capability "a.b" :name "B" :description "Does b." :parameters {:x "string"})'],
  [
    "openapi",
    "application/json",
    '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"ok"}}}}}}',
  ],
  [
    "openapi",
    "application/yaml",
    'openapi: 3.1.0\ninfo: {title: t, version: "1"}\npaths:\n  /a:\n    get:\n      operationId: a\n      responses: {"200": {description: ok}}\n',
  ],
  [
    "graphql",
    "application/graphql",
    '"""Shop"""\ntype Query { order(id: ID!): Order }\ntype Order { id: ID! total: Int }\n',
  ],
  [
    "mcp",
    "application/json",
    '{"tools":[{"name":"a","description":"Does a.","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}]}',
  ],
];

/** One bad request for each operation, in a changing order, and one bad document for each parser. */
export function* requestsOf({ paths }: OpenApi, mutator: Mutator): Generator<FuzzedRequest> {
  for (const [format, type, text] of documents) {
    const query = `tenant=fuzz&name=${format}&dryRun=true`;
    const headers = { "Content-Type": type };
    yield { method: "POST", path: `/api/import/${format}?${query}`, headers, body: mutator.text(text), statuses: [] };
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of methods) {
      const operation = operations[method];
      if (operation !== undefined) yield requestOf(path, method, operation, mutator);
    }
  }
}

function requestOf(path: string, method: string, operation: OpenApiOperation, mutator: Mutator): FuzzedRequest {
  const { parameters = [], requestBody, responses } = operation;
  const example = (name: string) => {
    const found = parameters.find((parameter) => parameter.name === name);
    return String(found?.example ?? found?.schema?.examples?.[0] ?? found?.schema?.enum?.[0] ?? "x");
  };
  const bad = (name: string) => (mutator.next() < 0.4 ? String(mutator.pick(texts)) : mutator.text(example(name)));
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    // Tenants of others are refused before anything else is read: mostly our own.
    encode(name === "tenant" && mutator.next() < 0.8 ? "fuzz" : mutator.next() < 0.6 ? example(name) : bad(name)),
  );
  const query = parameters
    .filter((parameter) => parameter.in === "query" && mutator.next() < 0.4)
    .map(({ name }) => `${encode(name)}=${encode(bad(name))}`);
  if (mutator.next() < 0.1) query.push(`${encode(String(mutator.pick(texts)))}=1`);
  const headers: Record<string, string> = {};
  for (const { name, in: place } of parameters) {
    if (place === "header" && mutator.next() < 0.3) headers[name] = bad(name).replaceAll(/[^\x20-\x7e]/g, "?");
  }
  const statuses = Object.keys(responses).map(Number);
  const request = {
    method: method.toUpperCase(),
    path: query.length === 0 ? filled : `${filled}?${query.join("&")}`,
    headers,
    statuses,
  };
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined) return request;
  const first = content?.example ?? Object.values(content?.examples ?? {})[0]?.value ?? {};
  const text = JSON.stringify(typeof first === "string" ? first : mutator.document(first)) ?? "";
  headers["Content-Type"] = mutator.next() < 0.9 ? type : mutator.pick(["text/plain", "application/yaml", "x"]);
  return { ...request, body: mutator.next() < 0.3 ? mutator.text(text) : text };
}

const texts = [
  "",
  "0",
  "-1",
  "1e9",
  "x".repeat(3_000),
  "%",
  "..",
  "\u0000",
  "é",
  "'",
  "[]",
  "null",
  "a,b,,c",
  "__proto__",
  "9".repeat(30),
];

/** A lone surrogate cannot be in a URL at all. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
