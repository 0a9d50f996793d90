import { isObject } from "../../kernel/json.ts";

/** Another kind of document, sent where a manifest belongs. */
export interface LookAlike {
  /** What it looks like. */
  what: string;
  /** Where it goes, or what to send instead. */
  instead: string;
  /** The member that gives it away. */
  path: string;
}

type Document = Record<string, unknown>;

interface Form extends LookAlike {
  matches: (document: Document) => boolean;
}

const text = (value: unknown): value is string => typeof value === "string";

/** The first that matches counts. None of these documents has a section of a manifest that is a list. */
const forms: Form[] = [
  {
    what: "a JSON-RPC message",
    instead: "import the result of a list with POST /api/import/mcp?tenant=…&name=…",
    path: "/jsonrpc",
    matches: ({ jsonrpc }) => jsonrpc !== undefined,
  },
  {
    what: "an OpenAPI document",
    instead: "import it with POST /api/import/openapi?tenant=…&name=…",
    path: "/openapi",
    matches: ({ openapi, swagger, paths }) => text(openapi) || text(swagger) || isObject(paths),
  },
  {
    what: "a GraphQL introspection result",
    instead: "import it with POST /api/import/graphql?tenant=…&name=…",
    path: "/__schema",
    matches: ({ __schema, data }) => isObject(__schema) || (isObject(data) && isObject(data.__schema)),
  },
  {
    what: "an answer with a server's config in its envelope",
    instead: "change settings with PUT /api/mcp/configs or PATCH /api/mcp/configs/{tenant}/{name}",
    path: "/data",
    matches: ({ success, data }) => success !== undefined && isObject(data) && isConfig(data),
  },
  {
    what: "an answer with a revision in its envelope",
    instead: "send its data.manifest, or restore it with POST …/revisions/{digest}/restore",
    path: "/data/manifest",
    matches: ({ success, data }) => success !== undefined && isObject(data) && isObject(data.manifest),
  },
  {
    what: "an answer of this API in its envelope",
    instead: "send what is in its data",
    path: "/data",
    matches: ({ success, data }) => typeof success === "boolean" && data !== undefined,
  },
  {
    what: "a hook's event",
    instead: "send it, signed, to POST /hooks/{tenant}/{hookId}; here send its data.manifest",
    path: "/data",
    matches: ({ type, data }) => text(type) && isObject(data),
  },
  {
    what: "a manifest inside another object",
    instead: "send what is in its manifest",
    path: "/manifest",
    matches: ({ manifest }) => isObject(manifest),
  },
  {
    what: "the tools view",
    instead: 'send its tools as one list, {"tools": […]}',
    path: "/tools_by_category",
    matches: (document) => document.tools_by_category !== undefined,
  },
  {
    what: "the resources view",
    instead: 'send a list: {"resources": […]}, or {"resourceTemplates": [{"name", "patterns", …}]} for its families',
    path: "/resources",
    matches: ({ resources }) => isObject(resources),
  },
  {
    what: "the generators view",
    instead: 'send its generators as a list, {"generators": […]}',
    path: "/generators",
    matches: ({ generators }) => isObject(generators),
  },
  {
    what: "the server view",
    instead: "send the server's tools, prompts, resources and so on; the view has only their counts",
    path: "/tool_count",
    matches: (document) =>
      ["tool_count", "resource_count", "generator_count"].some((key) => Object.hasOwn(document, key)),
  },
  {
    what: "the settings of an MCP client",
    instead: "register each server with POST /api/mcp/configs, its address under sources",
    path: "/mcpServers",
    matches: ({ mcpServers }) => isObject(mcpServers),
  },
  {
    what: "a server's config",
    instead: "send it to PUT /api/mcp/configs, or its changes to PATCH /api/mcp/configs/{tenant}/{name}",
    path: "/visibility",
    matches: isConfig,
  },
  {
    what: "a server.json of the official registry",
    instead: "publish it with POST /v0.1/publish",
    path: "/packages",
    matches: ({ $schema, packages, remotes, name }) =>
      (text($schema) && /server\.schema\.json$/.test($schema)) ||
      ((Array.isArray(packages) || Array.isArray(remotes)) && text(name)),
  },
];

function isConfig(document: Document): boolean {
  const settings = ["visibility", "sources", "policy", "advertise"];
  return settings.some((key) => Object.hasOwn(document, key));
}

/** What a document without any section looks like. */
export function lookAlike(document: Document): LookAlike | undefined {
  const form = forms.find(({ matches }) => matches(document));
  if (form === undefined) return undefined;
  const { what, instead, path } = form;
  const member = path.split("/")[1] ?? "";
  return { what, instead, path: Object.hasOwn(document, member) ? path : "" };
}
