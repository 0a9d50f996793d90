import { denied, type Operation, page } from "../http/operation.ts";

export const catalogOperations: Record<string, Record<string, Operation>> = {
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
};
