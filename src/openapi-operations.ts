/** One operation of the HTTP surface. */
export interface Operation {
  id: string;
  summary: string;
  /** Schema of the body, by its published name; `any` for a document of another kind. */
  body?: string;
  query?: Record<string, string>;
  headers?: readonly (keyof typeof requestHeaders)[];
  answers: Record<number, string>;
  anonymous?: true;
}

export const requestHeaders = {
  "Rollcall-Min-Generation":
    "The answer must be at least as new as this generation of the tenant; 412 when there is none.",
  "Cache-Control": "`no-cache` reads the tenant's object instead of any cache.",
  "If-None-Match": "A tag from an earlier answer: 304 when nothing changed. On a write, `*` creates only.",
  "If-Match": "A tag or manifest digest the server must still be at: 412 when it is not.",
  "X-MCP-Session-ID": "The session, from the answer to a negotiation.",
  "Last-Event-ID": "The id of the last event that was seen: the stream goes on after it.",
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
const noSubscription = { 404: "No such subscription." };
const conflict = { 412: "The server changed since the tag in If-Match." };

const inSession = ["X-MCP-Session-ID"] as const;
const sessionless = { 401: "No session, where one is needed, or one that is unknown, expired or another's." };
const lacking = { 403: "The client did not declare a capability that this needs." };

const server = "/api/mcp/capabilities/{tenant}/{name}";
const subscription = "/api/subscriptions/{tenant}/{id}";
const page = { limit: "Items a page, 1 to 100.", cursor: "nextCursor of the page before." };

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

/** Every path and method there is. */
export const operations: Record<string, Record<string, Operation>> = {
  ...officialOperations("/v0.1", ""),
  ...officialOperations("/v0", "V0"),
  "/": {
    get: { id: "getService", summary: "What this is and where to go", answers: { 200: "Links." }, anonymous: true },
  },
  "/healthz": {
    get: { id: "getHealth", summary: "Whether it answers", answers: { 200: "It does." }, anonymous: true },
  },
  "/openapi.json": {
    get: { id: "getDescription", summary: "This description", answers: { 200: "OpenAPI 3.1." }, anonymous: true },
  },
  "/schemas/": {
    get: {
      id: "listSchemas",
      summary: "The published JSON Schemas",
      answers: { 200: "Their paths." },
      anonymous: true,
    },
  },
  "/schemas/{file}": {
    get: {
      id: "getSchema",
      summary: "One JSON Schema",
      answers: { 200: "The schema.", 404: "No such schema." },
      anonymous: true,
    },
  },
  "/.well-known/oauth-protected-resource": {
    get: {
      id: "getResourceMetadata",
      summary: "How to get a token (RFC 9728)",
      answers: { 200: "Resource metadata." },
      anonymous: true,
    },
  },
  "/.well-known/oauth-protected-resource/mcp": {
    get: {
      id: "getMcpResourceMetadata",
      summary: "How to get a token for the MCP endpoint (RFC 9728)",
      answers: { 200: "Resource metadata." },
      anonymous: true,
    },
  },
  "/.well-known/ai-catalog.json": {
    get: {
      id: "getAiCatalog",
      summary: "Where the server card is",
      answers: { 200: "An AI catalogue." },
      anonymous: true,
    },
  },
  "/mcp/server-card": {
    get: {
      id: "getServerCard",
      summary: "The registry as an MCP server: its name, its version, its endpoint",
      answers: { 200: "An MCP server card." },
      anonymous: true,
    },
  },
  "/robots.txt": {
    get: { id: "getRobots", summary: "What crawlers may read", answers: { 200: "As text." }, anonymous: true },
  },
  "/api/metrics": {
    get: {
      id: "getMetrics",
      summary: "Counts, latency and cache sources of one isolate, for admins",
      answers: { 200: "Counts.", ...denied },
    },
  },
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
      id: "replaceServer",
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
      id: "getServer",
      summary: "A server's settings and what the registry knows of it",
      headers: reading,
      answers: { 200: "The settings.", 304: "Not changed.", 400: "A name is not valid.", ...denied, ...notFound },
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
  [`${server}/refresh`]: {
    post: {
      id: "refreshServer",
      summary: "Read a server's sources now",
      answers: {
        200: "What was found; sources that failed say why.",
        400: "A name is not valid.",
        ...denied,
        ...notFound,
        409: "It has no sources.",
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
  "/api/mcp/capabilities/{view}": {
    get: {
      id: "getOwnView",
      summary: "The same views of the registry itself",
      answers: { 200: "The view, without an envelope.", 404: "No such view." },
      anonymous: true,
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
  "/api/subscriptions": {
    get: {
      id: "listSubscriptions",
      summary: "Who is told of a tenant's changes",
      query: { tenant: "Whose." },
      answers: { 200: "The subscriptions, without their secrets.", 400: "A parameter is wrong.", ...denied },
    },
    post: {
      id: "createSubscription",
      summary: "Be told of a tenant's changes by webhook",
      body: "new-subscription",
      answers: {
        201: "Subscribed; the secret is shown this once.",
        ...badBody,
        ...denied,
        409: "The tenant has as many as it may have.",
      },
    },
  },
  [subscription]: {
    get: {
      id: "getSubscription",
      summary: "A subscription, its state and its recent attempts",
      answers: { 200: "The subscription.", 400: "A name is not valid.", ...denied, ...noSubscription },
    },
    patch: {
      id: "changeSubscription",
      summary: "Stop it, start it again, or send it elsewhere",
      body: "subscription-change",
      answers: { 200: "Changed.", ...badBody, ...denied, ...noSubscription },
    },
    delete: {
      id: "deleteSubscription",
      summary: "Delete a subscription and what waits for it",
      answers: { 200: "Deleted.", 400: "A name is not valid.", ...denied, ...noSubscription },
    },
  },
  [`${subscription}/rotate`]: {
    post: {
      id: "rotateSubscriptionSecret",
      summary: "Make a new secret; the earlier one signs as well for a while",
      body: "secret-rotation",
      answers: { 200: "The new secret, shown this once.", ...badBody, ...denied, ...noSubscription },
    },
  },
  [`${subscription}/test`]: {
    post: {
      id: "testSubscription",
      summary: "Send one test message now",
      answers: { 200: "What came of it.", 400: "A name is not valid.", ...denied, ...noSubscription },
    },
  },
  "/api/hooks": {
    post: {
      id: "registerHook",
      summary: "Register an inbound webhook of a server",
      body: "hook-request",
      answers: {
        201: "The hook, its URL, and its secret, shown once.",
        ...badBody,
        ...denied,
        ...notFound,
        409: "Too many.",
      },
    },
    get: {
      id: "listHooks",
      summary: "The hooks of a tenant",
      query: { tenant: "Whose." },
      answers: { 200: "Hooks, without secrets.", 400: "No tenant.", ...denied },
    },
  },
  "/api/hooks/{tenant}/{id}": {
    get: {
      id: "getHook",
      summary: "A hook and its last deliveries",
      answers: { 200: "The hook.", ...denied, 404: "No such hook." },
    },
    patch: {
      id: "changeHook",
      summary: "Switch a hook off or on",
      body: "hook-change",
      answers: { 200: "The hook.", ...badBody, ...denied, 404: "No such hook." },
    },
    delete: {
      id: "deleteHook",
      summary: "Delete a hook, at once everywhere",
      answers: { 200: "Deleted.", ...denied, 404: "No such hook." },
    },
  },
  "/api/hooks/{tenant}/{id}/rotate": {
    post: {
      id: "rotateHook",
      summary: "Give a hook a new secret; the old one stays good for a while",
      body: "key-rotation",
      answers: { 200: "The hook, and its new secret, shown once.", ...badBody, ...denied, 404: "No such hook." },
    },
  },
  "/hooks/{tenant}/{id}": {
    post: {
      id: "receiveEvent",
      summary: "Where a publishing server tells of changes; signed, not authorised",
      body: "hook-event",
      answers: {
        202: "What became of it: applied, unchanged, queued, duplicate or stale.",
        400: "It cannot be read.",
        401: "It could not be verified.",
        403: "The hook may not send this event.",
        409: "There is nothing to read again.",
        410: "The hook is switched off.",
        413: "It is too large.",
        422: "It breaks a rule.",
        429: "Too many events; see Retry-After.",
      },
      anonymous: true,
    },
  },
  "/mcp/negotiate": {
    post: {
      id: "negotiate",
      summary: "Open a session: what the client can do, and what it would like",
      body: "negotiation-request",
      answers: {
        200: "The server's side, what was settled, and the session; its id also in X-MCP-Session-ID.",
        ...badBody,
        401: "The token is not valid; none is needed.",
        403: "The deployment requires a capability that the client lacks.",
        409: "The client requires a capability that the server lacks.",
        429: "Too many negotiations; see Retry-After.",
      },
      anonymous: true,
    },
  },
  "/mcp/session": {
    get: {
      id: "getSession",
      summary: "The session of the request",
      headers: inSession,
      answers: { 200: "The session.", ...sessionless },
      anonymous: true,
    },
    delete: {
      id: "endSession",
      summary: "End the session and its streams",
      headers: inSession,
      answers: { 200: "Ended.", ...sessionless },
      anonymous: true,
    },
  },
  "/mcp/session/resume": {
    post: {
      id: "resumeSession",
      summary: "Take up a session again under a new id, once",
      body: "resume-request",
      answers: { 200: "As a negotiation answers.", ...badBody, 401: "The resume token is not good (any more)." },
      anonymous: true,
    },
  },
  "/mcp/session/changes": {
    get: {
      id: "getSessionChanges",
      summary: "What changed for the capabilities that the session chose",
      query: { since: "position of an earlier answer, or an id of the stream." },
      headers: inSession,
      answers: {
        200: "Changes, oldest first a tenant.",
        400: "since is no position.",
        ...sessionless,
        409: "The session chose nothing.",
      },
      anonymous: true,
    },
  },
  "/mcp/subscription/stream": {
    get: {
      id: "streamSessionChanges",
      summary: "The same as they happen, as server-sent events",
      headers: [...inSession, "Last-Event-ID"],
      answers: {
        200: "text/event-stream.",
        400: "Last-Event-ID is none.",
        ...sessionless,
        ...lacking,
        409: "The session chose nothing.",
        429: "Too many streams.",
      },
      anonymous: true,
    },
  },
  "/mcp": {
    post: {
      id: "mcp",
      summary: "The registry as an MCP server: revision 2026-07-28, and clients of 2025 without sessions",
      body: "any",
      answers: {
        200: "A JSON-RPC result or error, as application/json or text/event-stream.",
        400: "No JSON, or header and body disagree.",
        401: "What it asks for needs a token, or the token is not good.",
        403: "A page of this origin, or a host of this name, is not let in.",
        404: "No such method.",
        406: "Accept does not name both application/json and text/event-stream.",
        415: "The body is not application/json.",
      },
      anonymous: true,
    },
  },
  "/mcp/tool": {
    get: {
      id: "listTools",
      summary: "The registry's own tools with their schemas",
      headers: inSession,
      answers: { 200: "As MCP lists tools.", ...sessionless },
      anonymous: true,
    },
  },
  "/mcp/tool/{name}": {
    post: {
      id: "callTool",
      summary: "Call one of the registry's own tools with its arguments, or with a list of them",
      body: "any",
      headers: inSession,
      answers: {
        200: "The result; progress as text/event-stream where it was negotiated and asked for.",
        400: "The body cannot be read.",
        ...sessionless,
        ...lacking,
        404: "No such tool, or what it looked for is not there.",
        422: "The arguments break a rule; details.issues says where.",
      },
      anonymous: true,
    },
  },
  "/mcp/resource": {
    get: {
      id: "readResource",
      summary: "Read one of the registry's own resources",
      query: { uri: "Such as `capabilities://server`." },
      headers: inSession,
      answers: { 200: "Its text.", 400: "No URI.", ...sessionless, 404: "No such resource." },
      anonymous: true,
    },
  },
  "/api/changes/{tenant}": {
    get: {
      id: "listChanges",
      summary: "A tenant's log of changes, oldest first; with `Accept: text/event-stream` as it grows",
      query: {
        since: "Entries after this sequence number.",
        limit: "1 to 1000; not for a stream.",
      },
      headers: ["Rollcall-Min-Generation", "Last-Event-ID"],
      answers: {
        200: "Entries, each with its hash and that of the one before, and the head of the log; or a stream of them.",
        400: "A parameter is wrong, or a stream would start after the end of the log.",
        ...denied,
        412: "The tenant has not reached that generation.",
      },
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

/** The official registry's API under one of its two names. Failures are problem+json. */
function officialOperations(prefix: string, suffix: string): Record<string, Record<string, Operation>> {
  const one = `${prefix}/servers/{serverName}/versions/{version}`;
  const includeDeleted = { include_deleted: "`true` shows deleted versions too." };
  const open = { anonymous: true as const };
  const read = { 400: "A parameter is wrong.", 429: denied[429] };
  const unchangeable = { ...denied, 400: "A parameter is wrong.", 404: "Not a name.", 501: "Versions are immutable." };
  const status = {
    body: "status-update",
    answers: {
      200: "What changed.",
      ...denied,
      400: "Nothing to change, a message with active, or a body that cannot be read.",
      404: "No such version.",
      409: "The server published no versions.",
    },
  };
  return {
    [`${prefix}/servers`]: {
      get: {
        id: `listOfficialServers${suffix}`,
        summary: "Versions of public servers, in order of name and version",
        query: {
          ...page,
          search: "Part of the name or the description, in any case.",
          updated_since: "RFC 3339: only what changed after it, deleted versions included.",
          version: "`latest`, or exactly this one.",
          ...includeDeleted,
        },
        answers: { 200: "`{servers, metadata: {nextCursor?, count}}`", ...read },
        ...open,
      },
    },
    [`${prefix}/servers/{serverName}/versions`]: {
      get: {
        id: `listOfficialVersions${suffix}`,
        summary: "All versions of a server, the newest first; the name's slash is %2F",
        query: includeDeleted,
        answers: { 200: "Its versions.", ...read, ...notFound },
        ...open,
      },
    },
    [one]: {
      get: {
        id: `getOfficialVersion${suffix}`,
        summary: "One version of a server, or its `latest`",
        query: includeDeleted,
        answers: { 200: "The server.json and what the registry knows of it.", ...read, ...notFound },
        ...open,
      },
      put: { id: `replaceOfficialVersion${suffix}`, summary: "Not done here", answers: unchangeable },
      delete: { id: `deleteOfficialVersion${suffix}`, summary: "Not done here", answers: unchangeable },
    },
    [`${one}/status`]: {
      patch: { id: `setOfficialStatus${suffix}`, summary: "Give a version another status", ...status },
    },
    [`${prefix}/servers/{serverName}/status`]: {
      patch: { id: `setAllOfficialStatus${suffix}`, summary: "Give all versions another status, or none", ...status },
    },
    [`${prefix}/publish`]: {
      post: {
        id: `publishServerJson${suffix}`,
        summary: "Publish a version of a server",
        body: "server-json",
        answers: {
          200: "Published.",
          ...denied,
          ...badBody,
          400: "Unreadable, a version that is there already, or a remote that another server has.",
          409: "The server is not public.",
        },
      },
    },
    [`${prefix}/validate`]: {
      post: {
        id: `validateServerJson${suffix}`,
        summary: "Whether a server.json could be published",
        body: "server-json",
        answers: { 200: "`{valid, issues}`", 400: "The body cannot be read.", 413: badBody[413], 415: badBody[415] },
        ...open,
      },
    },
    [`${prefix}/ping`]: {
      get: { id: `officialPing${suffix}`, summary: "Whether it answers", answers: { 200: "It does." }, ...open },
    },
    [`${prefix}/health`]: {
      get: { id: `officialHealth${suffix}`, summary: "Whether it is well", answers: { 200: "It is." }, ...open },
    },
    [`${prefix}/version`]: {
      get: { id: `officialVersion${suffix}`, summary: "Which version runs", answers: { 200: "It." }, ...open },
    },
  };
}
