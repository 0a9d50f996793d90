import { jsonSchemas } from "./schemas/registry.ts";
import { version } from "./version.ts";

/**
 * The description of the HTTP surface, written to schemas/openapi.json by `npm run generate`. A test walks the routes
 * and fails when one is missing here or described without being there.
 */

interface Operation {
  summary: string;
  /** Schema of the body, by its published name. */
  body?: string;
  query?: Record<string, string>;
  headers?: readonly (keyof typeof requestHeaders)[];
  answers: Record<number, string>;
  anonymous?: true;
}

const requestHeaders = {
  "Rollcall-Min-Generation":
    "The answer must be at least as new as this generation of the tenant; 412 when there is none.",
  "Cache-Control": "`no-cache` reads the tenant's object instead of any cache.",
  "If-None-Match": "A tag from an earlier answer: 304 when nothing changed. On a write, `*` creates only.",
  "If-Match": "A tag or manifest digest the server must still be at: 412 when it is not.",
} as const;

const reading = ["Rollcall-Min-Generation", "Cache-Control", "If-None-Match"] as const;
const writing = ["If-Match", "If-None-Match"] as const;

const denied = {
  401: "No valid token.",
  403: "The token lacks the tenant or the scope.",
  429: "Too many requests; see Retry-After.",
};
const badBody = {
  400: "The request or its body cannot be read.",
  413: "The body is too large.",
  415: "Neither JSON nor YAML.",
  422: "The document breaks a rule; details.issues says where.",
};
const notFound = { 404: "No such server." };
const conflict = { 412: "The server changed since the tag in If-Match." };

const server = "/api/mcp/capabilities/{tenant}/{name}";
const page = { limit: "Items a page, 1 to 100.", cursor: "nextCursor of the page before." };

const operations: Record<string, Record<string, Operation>> = {
  "/": { get: { summary: "What this is and where to go", answers: { 200: "Links." }, anonymous: true } },
  "/healthz": { get: { summary: "Whether it answers", answers: { 200: "It does." }, anonymous: true } },
  "/openapi.json": { get: { summary: "This description", answers: { 200: "OpenAPI 3.1." }, anonymous: true } },
  "/schemas/": { get: { summary: "The published JSON Schemas", answers: { 200: "Their paths." }, anonymous: true } },
  "/schemas/{file}": {
    get: { summary: "One JSON Schema", answers: { 200: "The schema.", 404: "No such schema." }, anonymous: true },
  },
  "/.well-known/oauth-protected-resource": {
    get: { summary: "How to get a token (RFC 9728)", answers: { 200: "Resource metadata." }, anonymous: true },
  },
  "/api/metrics": {
    get: {
      summary: "Counts, latency and cache sources of one isolate, for admins",
      answers: { 200: "Counts.", ...denied },
    },
  },
  "/api/mcp/configs": {
    get: {
      summary: "List the servers of the caller's tenants, or with visibility=public the public ones of all",
      query: { tenant: "Only this tenant.", visibility: "`public`", ...page },
      headers: ["Rollcall-Min-Generation"],
      answers: {
        200: "A page in order of tenant and name.",
        400: "A parameter or cursor is wrong.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
    },
    post: {
      summary: "Register a server",
      body: "server-config",
      answers: { 201: "Registered.", ...badBody, ...denied, 409: "It exists already." },
    },
    put: {
      summary: "Replace a server's settings",
      body: "server-config",
      headers: ["If-Match"],
      answers: {
        200: "Replaced; effectiveBy when visibility narrowed.",
        ...badBody,
        ...denied,
        ...notFound,
        ...conflict,
      },
    },
  },
  "/api/mcp/configs/{tenant}/{name}": {
    get: {
      summary: "A server's settings and what the registry knows of it",
      headers: reading,
      answers: { 200: "The settings.", 304: "Not changed.", 400: "A name is not valid.", ...denied, ...notFound },
    },
    delete: {
      summary: "Delete a server and its history",
      headers: ["If-Match"],
      answers: {
        200: "Deleted; gone everywhere by effectiveBy.",
        400: "A name is not valid.",
        ...denied,
        ...notFound,
        ...conflict,
      },
    },
  },
  [server]: {
    get: {
      summary: "Everything a server can do",
      headers: reading,
      answers: {
        200: "The capabilities.",
        304: "Not changed.",
        400: "A name is not valid.",
        ...denied,
        ...notFound,
        412: "The tenant has not reached that generation.",
      },
    },
    put: {
      summary: "Publish a manifest",
      body: "manifest",
      query: { partial: "`true` takes the valid items and returns the others as rejected." },
      headers: writing,
      answers: {
        200: "Published, or unchanged.",
        201: "Published; the server is new.",
        ...badBody,
        ...denied,
        409: "An id is taken, or the version stayed while the policy refuses that.",
        ...conflict,
      },
    },
    patch: {
      summary: "Switch items on or off without a new manifest",
      body: "item-switch",
      headers: ["If-Match"],
      answers: {
        200: "Switched; effectiveBy when something went off.",
        ...badBody,
        ...denied,
        404: "No such server or item.",
        ...conflict,
      },
    },
  },
  [`${server}/revisions`]: {
    get: {
      summary: "History, newest first",
      query: { limit: page.limit, before: "nextBefore of the page before." },
      headers: ["Rollcall-Min-Generation", "Cache-Control"],
      answers: { 200: "Revisions.", 400: "A parameter is wrong.", ...denied, ...notFound },
    },
  },
  [`${server}/revisions/{digest}`]: {
    get: {
      summary: "One revision, whole: what the digest covers",
      headers: reading,
      answers: {
        200: "The revision.",
        304: "Not changed.",
        400: "Not a digest.",
        ...denied,
        404: "No such server or revision.",
      },
    },
  },
  [`${server}/diff`]: {
    get: {
      summary: "What changed between two revisions, classified",
      query: { from: "A digest.", to: "A digest; the present one when absent." },
      answers: { 200: "The changes.", 400: "Not a digest.", ...denied, 404: "No such server or revision." },
    },
  },
  "/api/changes/{tenant}": {
    get: {
      summary: "A tenant's log of changes, oldest first",
      query: { since: "Entries after this sequence number.", limit: "1 to 1000." },
      headers: ["Rollcall-Min-Generation"],
      answers: {
        200: "Entries.",
        400: "A parameter is wrong.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
    },
  },
};

export function openApiDocument(): Record<string, unknown> {
  const component = (name: string) => `#/components/schemas/${name}`;
  const schemas = Object.fromEntries(
    Object.entries(jsonSchemas(component)).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
  const paths = Object.fromEntries(
    Object.entries(operations).map(([path, methods]) => [
      path,
      {
        ...pathParameters(path),
        ...Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [method, describe(operation, component)]),
        ),
      },
    ]),
  );
  return {
    openapi: "3.1.1",
    info: {
      title: "Rollcall",
      version,
      summary: "An edge-deployed capability registry",
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Success is `{success: true, message?, data}`; failure is `{success: false, error: {code, message, details?}}`. " +
        "Data answers carry ETag, Rollcall-Generation and Rollcall-Source.",
    },
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }, schemas },
  };
}

function pathParameters(path: string): { parameters?: unknown[] } {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1]);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })) };
}

function describe(operation: Operation, component: (name: string) => string): Record<string, unknown> {
  const text = { type: "string" };
  const query = Object.entries(operation.query ?? {}).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: text,
  }));
  const headers = (operation.headers ?? []).map((name) => ({
    name,
    in: "header",
    description: requestHeaders[name],
    schema: text,
  }));
  const parameters = [...query, ...headers];
  const schema = operation.body === undefined ? undefined : { $ref: component(operation.body) };
  const content = schema && { "application/json": { schema }, "application/yaml": { schema } };
  return {
    summary: operation.summary,
    ...(operation.anonymous ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content ? { requestBody: { required: true, content } } : {}),
    responses: Object.fromEntries(
      Object.entries(operation.answers).map(([status, description]) => [status, { description }]),
    ),
  };
}
