import { badBody, denied, type Operation, page, reading, writing } from "../http/operation.ts";

const indexAnswers = {
  200: "The index.",
  304: "Not changed.",
  400: "A name is not valid.",
  ...denied,
  403: "The token lacks the tenant or the scope, or the variant is not advertised.",
  404: "No such server or variant.",
  412: "The tenant has not reached that generation.",
  413: "It is larger than one answer may be; the message names narrower ones.",
};

/** Finding servers and capabilities. */
export const findingOperations: Record<string, Record<string, Operation>> = {
  "/api/catalog": {
    get: {
      id: "readCatalog",
      summary: "Servers that the caller may see, across tenants; public ones need no token",
      query: {
        tenant: "Only servers of this tenant. This and the filters below may be repeated: one of the values is enough.",
        kind: "Only servers that have a tool, prompt, resource, resourceTemplate, generator or operation.",
        provider: "Only servers with an item of this provider: `mcp`, `openapi`, `graphql` …",
        category: "Only servers with an item of this category.",
        permission: "Only servers with an item that needs this permission.",
        effect: "Only servers with an item that has this effect.",
        capability_type: "Only servers with an item whose `metadata.discovery.capability_type` is this.",
        status: "`active` or `deprecated`.",
        probe:
          "What asking the server's sources found: `live`, `pending`, `gated`, `not-mcp`, `unreachable`, or `unknown`.",
        updated_since: "Only servers that changed at this time or later; RFC 3339.",
        facets: "Dimensions to count, `true` or `false`; all with a first page where nothing is said.",
        fields: "Members of each item, separated by commas; all where nothing is said.",
        ...page,
      },
      headers: ["Cache-Control", "If-None-Match"],
      answers: {
        200: "A page in order of tenant and name.",
        304: "Nothing that is shown has changed.",
        400: "A parameter or cursor is wrong.",
        ...denied,
      },
      anonymous: true,
    },
  },
  "/api/search": {
    get: {
      id: "searchCapabilities",
      summary: "Capabilities for a task in plain words, the best first; public ones need no token",
      query: {
        q: "The task. Several steps are looked for one by one.",
        kind: "Only `tool`, `prompt`, `resource`, `resourceTemplate`, `generator` or `operation`; may be repeated.",
        tenant: "Only capabilities of this tenant; may be repeated.",
        budget: "As many tokens as all results together may cost; what does not fit is left out.",
        explain: "`true` tells of each result what it was found by.",
        ...page,
      },
      headers: ["If-None-Match"],
      answers: {
        200: "A page in order of rank.",
        304: "Nothing that is shown has changed.",
        400: "A parameter or cursor is wrong.",
        ...denied,
        410: "The results before this page have changed.",
      },
      anonymous: true,
    },
  },
  "/api/index/{tenant}/advertise": {
    get: {
      id: "getAdvertise",
      summary: "Which variants of a tenant's capability index are advertised",
      headers: ["Rollcall-Min-Generation", "If-None-Match"],
      answers: {
        200: "The settings and what they come to.",
        304: "Not changed.",
        400: "A name is not valid.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
    },
    put: {
      id: "setAdvertise",
      summary: "Say which variants of a tenant's capability index are advertised",
      body: "advertise-settings",
      headers: writing,
      answers: { 200: "Said.", ...badBody, ...denied, 412: "The settings changed since the tag in If-Match." },
    },
  },
  "/api/index/{tenant}/budget": {
    post: {
      id: "fitIndex",
      summary: "The best capability index that fits a task and a token budget; YAML alone by Accept",
      body: "index-budget-request",
      headers: ["Rollcall-Min-Generation"],
      answers: {
        200: "The text, its tokens, and what is in it at which level of detail.",
        ...badBody,
        ...denied,
        412: "The tenant has not reached that generation.",
      },
      anonymous: true,
    },
  },
  "/api/index/{tenant}/{variant}": {
    get: {
      id: "getTenantIndex",
      summary: "A tenant's capability index: summary or full as YAML, stats as JSON",
      headers: reading,
      answers: indexAnswers,
      anonymous: true,
    },
  },
  "/api/index/{tenant}/{name}/{variant}": {
    get: {
      id: "getServerIndex",
      summary: "A server's capability index: summary or full as YAML, stats as JSON",
      headers: reading,
      answers: indexAnswers,
      anonymous: true,
    },
  },
};
