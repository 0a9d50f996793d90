import {
  badBody,
  conflict,
  denied,
  notFound,
  type Operation,
  page,
  reading,
  server,
  writing,
} from "../http/operation.ts";

/** Operations on servers and their capabilities. */
export const registryOperations: Record<string, Record<string, Operation>> = {
  "/api/mcp/configs": {
    get: {
      id: "listServers",
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
      id: "createServer",
      summary: "Register a server",
      body: "server-config",
      answers: { 201: "Registered.", ...badBody, ...denied, 409: "It exists already." },
    },
    put: {
      id: "changeServer",
      summary: "Change the settings of a server that the body names; null removes a member",
      body: "server-config",
      headers: ["If-Match"],
      answers: {
        200: "Changed, with the names of the members that did; effectiveBy when visibility narrowed.",
        ...badBody,
        ...denied,
        ...notFound,
        ...conflict,
      },
    },
  },
  "/api/mcp/configs/{tenant}/{name}": {
    get: {
      id: "getServer",
      summary: "A server's settings and what the registry knows of it",
      headers: reading,
      answers: { 200: "The settings.", 304: "Not changed.", 400: "A name is not valid.", ...denied, ...notFound },
    },
    patch: {
      id: "patchServer",
      summary: "Change the settings that the body names; null removes a member",
      body: "server-config",
      headers: ["If-Match"],
      answers: {
        200: "Changed, with the names of the members that did; effectiveBy when visibility narrowed.",
        ...badBody,
        ...denied,
        ...notFound,
        ...conflict,
      },
    },
    delete: {
      id: "deleteServer",
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
      id: "getCapabilities",
      summary: "Everything a server can do",
      query: { include: "`disabled` shows switched-off items too, to those who may publish." },
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
      id: "publishManifest",
      summary: "Publish a manifest",
      body: "manifest",
      query: {
        partial: "`true` takes the valid items and returns the others as rejected.",
        dryRun: "`true` answers what publishing would do, and publishes nothing.",
        sections: "Sections of the publisher's own, by name, that the manifest may consist of.",
        include: "`disabled`: the sender has seen the switched-off items; those that are absent are removed.",
      },
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
      id: "switchItems",
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
      id: "listRevisions",
      summary: "History, newest first",
      query: { limit: page.limit, before: "nextBefore of the page before." },
      headers: ["Rollcall-Min-Generation", "Cache-Control"],
      answers: { 200: "Revisions.", 400: "A parameter is wrong.", ...denied, ...notFound },
    },
  },
  [`${server}/revisions/{digest}`]: {
    get: {
      id: "getRevision",
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
  [`${server}/revisions/{digest}/restore`]: {
    post: {
      id: "restoreRevision",
      summary: "Make an earlier revision current: what was pushed and registered then",
      query: {
        partial: "`true` leaves out items that can no longer be published.",
        dryRun: "`true` answers what restoring would do, and changes nothing.",
      },
      headers: ["If-Match"],
      answers: {
        200: "Restored, or unchanged.",
        400: "Not a digest.",
        ...denied,
        404: "No such server or revision.",
        409: "An id is taken by another server.",
        ...conflict,
        422: "Items cannot be published any more.",
      },
    },
  },
  [`${server}/diff`]: {
    get: {
      id: "diffRevisions",
      summary: "What changed between two revisions, classified",
      query: { from: "A digest.", to: "A digest; the present one when absent." },
      answers: { 200: "The changes.", 400: "Not a digest.", ...denied, 404: "No such server or revision." },
    },
  },
  [`${server}/{view}`]: {
    get: {
      id: "getView",
      summary: "One of the capabilities:// views: server, tools, resources, generators, or one the manifest brings",
      headers: reading,
      answers: {
        200: "The view, without an envelope.",
        304: "Not changed.",
        400: "A name is not valid.",
        ...denied,
        404: "No such server or view.",
      },
    },
  },
  [`${server}/generators`]: {
    post: {
      id: "registerGenerator",
      summary: "Register a generator as a plugin",
      body: "generator",
      query: { override: "`true` replaces the one of the same type." },
      answers: {
        201: "Registered.",
        ...badBody,
        ...denied,
        ...notFound,
        409: "The type is registered already.",
        412: "Too many others were publishing.",
      },
    },
  },
  [`${server}/generators/select`]: {
    post: {
      id: "selectGenerator",
      summary: "Which generator a posted config is for, and why",
      body: "any",
      answers: {
        200: "Type, confidence, rule and the other candidates.",
        ...badBody,
        ...denied,
        404: "No such server, or it has no generators.",
      },
    },
  },
  [`${server}/generators/{type}/preflight`]: {
    post: {
      id: "preflightGenerator",
      summary: "Whether a generator could run on a config with the credentials the caller names",
      body: "preflight-request",
      answers: {
        200: "What is missing, timeout and concurrency advice.",
        ...badBody,
        ...denied,
        404: "No such server or generator.",
      },
    },
  },
  "/api/capabilities/{tenant}/{capabilityId}": {
    get: {
      id: "getCapability",
      summary: "One capability by its id, as JSON, YAML or RTFS; public ones need no token",
      query: {
        format: "`json`, `yaml` or `rtfs`; else by Accept.",
        layout: "`flat` for metadata as one level of keys, with collisions reported.",
        hints: "`true` adds where and with which variables a runtime would call it.",
      },
      headers: ["Rollcall-Min-Generation", "If-None-Match"],
      answers: {
        200: "The capability.",
        304: "Not changed.",
        400: "A parameter is wrong.",
        ...denied,
        404: "No such capability.",
        412: "The tenant has not reached that generation.",
      },
      anonymous: true,
    },
  },
  "/api/import/{format}": {
    post: {
      id: "importDocument",
      summary: "Publish what an RTFS, OpenAPI, GraphQL or MCP document describes",
      body: "any",
      query: {
        tenant: "Owner of the server.",
        name: "Name of the server.",
        dryRun: "`true` only shows what would be published.",
      },
      headers: writing,
      answers: {
        200: "Published, unchanged, or previewed.",
        201: "Published; the server is new.",
        ...badBody,
        ...denied,
        404: "No such importer.",
        409: "The version stayed while the policy refuses that.",
        ...conflict,
      },
    },
  },
};
