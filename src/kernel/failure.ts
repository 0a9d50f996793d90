import type { Issue } from "./issue.ts";

/**
 * Every way a request can fail: status, default message, and the next step (`details.hint`) where the caller can mend
 * it. A new code needs only an entry here: the serialisers read this table.
 */
const failures = {
  ErrorBadRequest: [
    400,
    "The request is not valid",
    "The message names the parameter; GET /openapi.json describes every operation",
  ],
  ErrorTenantRequired: [
    400,
    "Tenant name is required",
    "Name the tenant (an owner, such as `demo`) in the path, as `?tenant=` or as `tenant` of the body",
  ],
  ErrorTenantInvalid: [
    400,
    "Tenant name is not valid",
    "Use 1 to 100 letters, digits, dots and hyphens, such as `demo` or `io.github.acme`",
  ],
  ErrorMCPServerNameRequired: [
    400,
    "MCP server name is required",
    "Name the server in the path, as `?name=` or as `name` of the body",
  ],
  ErrorMCPServerNameInvalid: [
    400,
    "MCP server name is not valid",
    "Use 1 to 128 letters, digits, dots, underscores and hyphens, such as `weather`",
  ],
  ErrorInvalidBody: [
    400,
    "The request body is not valid JSON or YAML",
    "Check the body at the place that the message names; send it as UTF-8",
  ],
  ErrorVersionExists: [
    400,
    "The version is published already, and a published version never changes",
    "Publish a higher version",
  ],
  ErrorRemoteTaken: [
    400,
    "The remote URL is already used by another server; a URL can belong to one server",
    "Remove the remote from one of the two servers",
  ],
  ErrorTooManyVersions: [400, "The server has the maximum number of versions", "Publish under another server name"],
  ErrorNoChange: [
    400,
    "No changes to apply: the version already has this status and message",
    "Send another `status` or `statusMessage`, or nothing",
  ],
  ErrorCursorInvalid: [
    400,
    "This cursor belongs to a different list, filter or caller. Start again without `cursor`",
    "Send `nextCursor` of the page before, with the same parameters and token",
  ],
  ErrorUnauthorized: [
    401,
    "Unauthorized access",
    "Send `Authorization: Bearer …`; make a token with `npm run token -- --tenant demo`",
  ],
  ErrorWebhookUnverified: [
    401,
    "Webhook rejected: unknown hook, wrong signature, or timestamp more than 5 minutes off",
    "Check the URL, the secret and the clock; docs/how-to/hooks.md shows how to sign",
  ],
  ErrorSessionMissing: [
    401,
    "Missing session ID. Please negotiate capabilities first.",
    "POST /mcp/negotiate, then send its `X-MCP-Session-ID`",
  ],
  ErrorSessionInvalid: [
    401,
    "Invalid session ID. Please negotiate capabilities again.",
    "Sessions end after an hour without use: POST /mcp/negotiate, or /mcp/session/resume with the resume token",
  ],
  ErrorResumeInvalid: [
    401,
    "Invalid resume token. Please negotiate capabilities again.",
    "A resume token works once, for the caller who negotiated: POST /mcp/negotiate",
  ],
  ErrorTenantPermissionError: [
    403,
    "You do not have permission to access this tenant",
    "GET /api/whoami shows the tenants of your token",
  ],
  ErrorInsufficientScope: [
    403,
    "The token lacks a scope that this needs",
    "npm run token -- --scope 'registry:read registry:publish'",
  ],
  ErrorHookEvent: [403, "The hook may not send this event", "Register a hook whose `events` include it"],
  ErrorCapabilityRequired: [
    403,
    "Client does not support a required capability",
    "POST /mcp/negotiate with the capability in `supported_capabilities`, then send X-MCP-Session-ID",
  ],
  ErrorIndexDisabled: [
    403,
    "This variant of the capability index is not advertised",
    "PUT /api/index/{tenant}/advertise advertises it",
  ],
  ErrorNotFound: [404, "There is nothing at this path", "GET /openapi.json lists every path"],
  ErrorMCPServerNotFound: [
    404,
    "MCP server not found",
    "GET /api/mcp/configs?tenant={tenant} lists the servers of a tenant",
  ],
  ErrorCapabilityNotFound: [
    404,
    "Capability not found",
    "GET /api/mcp/capabilities/{tenant}/{name} lists what a server has, with ids",
  ],
  ErrorFlagNotFound: [
    404,
    "The content with this digest has no such flag",
    "GET /api/flags?tenant={tenant} lists what is flagged, with digest, rule and path",
  ],
  ErrorHookNotFound: [404, "Hook not found", "GET /api/hooks?tenant={tenant} lists the hooks of a tenant"],
  ErrorSubscriptionNotFound: [
    404,
    "Subscription not found",
    "GET /api/subscriptions?tenant={tenant} lists the subscriptions of a tenant",
  ],
  ErrorVersionNotFound: [404, "The server has no such version", "GET /v0.1/servers/{serverName}/versions lists them"],
  ErrorRevisionNotFound: [
    404,
    "No such revision is retained",
    "GET /api/mcp/capabilities/{tenant}/{name}/revisions lists the last 100",
  ],
  resource_not_found: [
    404,
    "There is no such capability resource",
    "GET /mcp/resource?uri=capabilities://server reads the registry's own",
  ],
  ErrorToolNotFound: [404, "There is no such tool", "GET /mcp/tool lists those there are"],
  ErrorOriginRefused: [
    403,
    "This browser origin is not allowed; add it to MCP_ORIGINS",
    "Operator: add the origin to the setting MCP_ORIGINS",
  ],
  ErrorFormRefused: [
    403,
    "The form did not come from a page of this registry",
    "Open the page of this registry and send the form from there",
  ],
  ErrorHostRefused: [
    403,
    "This host is not allowed for /mcp; add it to MCP_HOSTS",
    "Use the address that the registry announces, or add the host to the setting MCP_HOSTS",
  ],
  ErrorNotAcceptable: [
    406,
    "The Accept header must list both application/json and text/event-stream",
    "Send `Accept: application/json, text/event-stream`",
  ],
  ErrorMethodNotAllowed: [
    405,
    "The path does not allow this method",
    "`Allow` lists the methods of this path; GET /openapi.json describes them",
  ],
  ErrorMCPServerExists: [
    409,
    "MCP server already exists",
    "PUT /api/mcp/configs changes it; DELETE /api/mcp/configs/{tenant}/{name} deletes it",
  ],
  ErrorGeneratorExists: [
    409,
    "A generator of this type is registered already",
    "Choose another `type`, or delete the registered one first",
  ],
  ErrorCapabilityCollision: [
    409,
    "A capability id is already used by another server of the tenant. Ids are unique per tenant",
    "Set another `id`, or publish with ?partial=true to leave the item out",
  ],
  ErrorServerPrivate: [
    409,
    "The server is private; /v0.1 publishes publicly",
    'Set `visibility: "public"` first: PUT /api/mcp/configs',
  ],
  ErrorVersionDerived: [
    409,
    "The server has no server.json versions",
    "Change `status` in its config: PUT /api/mcp/configs",
  ],
  ErrorSameVersion: [
    409,
    "The manifest changed while its version did not",
    "Raise `version`, or change `policy` of the server: PUT /api/mcp/configs",
  ],
  ErrorPublishSuperseded: [
    409,
    "Another write to this server was accepted while this publish was being stored; nothing of this one was published",
    "GET the server again, then publish what is still to be changed",
  ],
  ErrorCapabilityDeclined: [
    409,
    "Server does not support a required capability",
    "Leave it out of `required` in the extension dev.rollcall/negotiation",
  ],
  ErrorNoSubset: [
    409,
    'This session has no chosen capabilities. Negotiate with `extensions["dev.rollcall/context"]: {budget, task}`',
    "POST /mcp/negotiate again; docs/explanation/negotiation.md shows the extension",
  ],
  ErrorNoSources: [
    409,
    "The server has no MCP sources to read",
    "Add `sources` to its config (PUT /api/mcp/configs), or publish a manifest",
  ],
  ErrorTooManySubscriptions: [
    409,
    "The tenant has the maximum number of subscriptions",
    "Delete one first: DELETE /api/subscriptions/{tenant}/{id}",
  ],
  ErrorTooManyAcknowledged: [
    409,
    "The server has the maximum number of acknowledged flags",
    'Take one back first: POST /api/flags/{digest}/acknowledge {"acknowledged": false}',
  ],
  ErrorTooManyHooks: [
    409,
    "The tenant has the maximum number of hooks",
    "Delete one first: DELETE /api/hooks/{tenant}/{id}",
  ],
  ErrorCursorExpired: [
    410,
    "The search results changed since page one. Start again without `cursor`",
    "Ask for the first page again",
  ],
  ErrorHookDisabled: [410, "This hook is disabled", 'Enable it: PATCH /api/hooks/{tenant}/{id} {"enabled": true}'],
  ErrorPreconditionFailed: [
    412,
    "If-Match does not match: the server has changed. Read it again, then retry",
    "GET it again and send its new ETag as If-Match",
  ],
  ErrorGenerationAhead: [
    412,
    "The tenant has not reached that generation",
    "Send the generation of an answer to a write, or leave out Rollcall-Min-Generation",
  ],
  ErrorDirectoryAhead: [
    412,
    "The directory has not reached that state",
    "Send the `Rollcall-Directory` of a later answer, or leave out Rollcall-Min-Directory-Generation",
  ],
  ErrorTooLarge: [413, "The body is too large", "Send less at once, or split it over several servers"],
  ErrorIndexTooLarge: [
    413,
    "The capability index is larger than one answer may be",
    "Ask for the index of one server, or POST /api/index/{tenant}/budget",
  ],
  ErrorUnsupportedMediaType: [
    415,
    "The body must be JSON or YAML",
    "Send `Content-Type: application/json` and no Content-Encoding",
  ],
  ErrorIdempotencyKeyReused: [
    422,
    "This Idempotency-Key was used for another request",
    "Choose a new key for each new request, and send a request again with the key it had",
  ],
  ErrorParameterInvalid: [
    422,
    "A query parameter is not valid",
    "The message names the parameter; docs/reference/official-registry.md lists them",
  ],
  ErrorServerJsonInvalid: [
    422,
    "The server.json is not valid",
    "`errors` names each place; POST /v0.1/validate checks without publishing",
  ],
  ErrorMCPServerValidation: [
    422,
    "MCP server validation failed",
    "`details.issues` names each place; ?dryRun=true checks without publishing",
  ],
  ErrorToolArguments: [422, "The arguments do not fit the tool", "GET /mcp/tool has the input schema of each tool"],
  ErrorHookInvalid: [422, "The hook's settings are not valid", "docs/how-to/hooks.md lists the settings of a hook"],
  ErrorSubscriptionInvalid: [
    422,
    "The subscription's settings are not valid",
    "docs/how-to/subscriptions.md lists the settings of a subscription",
  ],
  ErrorAddressRefused: [
    422,
    "The registry will not send requests to this address. Use a public https URL on the default port",
    "https, public name, port 443; for development ALLOW_LOOPBACK_FETCH=true",
  ],
  ErrorEventInvalid: [
    422,
    "The event is not valid",
    "docs/how-to/hooks.md shows each event; `details.issues` names each place",
  ],
  ErrorNegotiationInvalid: [
    422,
    "Negotiation request is not valid",
    "`details.issues` names each place; docs/explanation/negotiation.md shows a request",
  ],
  ErrorTooManyRequests: [429, "Too many requests", "Wait for the seconds in Retry-After, then retry"],
  ErrorToolCancelled: [499, "The call was cancelled"],
  ErrorInternalServer: [500, "Internal error"],
  ErrorSourceUnavailable: [
    502,
    "Failed to fetch capabilities",
    "Check the address and credential of the source: GET /api/mcp/configs/{tenant}/{name} shows what it said",
  ],
  ErrorNotImplemented: [501, "The registry does not support this"],
  server_error: [
    500,
    "The capability data could not be generated",
    "Retry with `Cache-Control: no-cache`, or publish the manifest again",
  ],
  ErrorNewerData: [
    503,
    "This data was written by a newer version of Rollcall: it can be read here, but not written",
    "Run the version that wrote it, or a newer one",
  ],
  ErrorNotConfigured: [503, "The registry is not configured for this"],
  ErrorUnavailable: [503, "Temporarily unavailable, retry after 1 s"],
} as const satisfies Record<string, readonly [status: number, message: string, hint?: string]>;

export type FailureCode = keyof typeof failures;

export interface Failure {
  code: FailureCode;
  message: string;
  details?: FailureDetails;
}

/** A capability id in a publish that another server of the tenant already uses. */
export interface IdCollision {
  id: string;
  item: string;
  takenBy: string;
}

/** A bound by name, its limit, and how much was found, where that is known. */
export interface MetBound {
  name: string;
  limit?: number;
  found?: number;
}

interface FailureDetails {
  /** The reason, where `message` of the failure is a text that clients compare. */
  message?: string;
  /** What to do next. */
  hint?: string;
  issues?: Issue[];
  collisions?: IdCollision[];
  retryAfterSeconds?: number;
  /** What the request is too much for. */
  bound?: MetBound;
  /** The setting that raises the bound. */
  setting?: string;
  [detail: string]: unknown;
}

/** A failure with the table's message and hint, unless others are given: those can name what the request named. */
export function failure(code: FailureCode, message?: string, details?: FailureDetails): Failure {
  const [, text, hint]: readonly [number, string, string?] = failures[code];
  const all = hint === undefined ? details : { ...details, hint: details?.hint ?? hint };
  return all === undefined ? { code, message: message ?? text } : { code, message: message ?? text, details: all };
}

/** Every code, for the test that lists them. */
export const failureCodes = Object.keys(failures) as FailureCode[];

export function statusOf(code: FailureCode): (typeof failures)[FailureCode][0] {
  return failures[code][0];
}
