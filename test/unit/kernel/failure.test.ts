import { describe, expect, it } from "vitest";
import { failure, failureCodes, statusOf } from "../../../src/kernel/failure.ts";
import { operations } from "../../../src/operations.ts";

describe("failures", () => {
  it("have a status, a message and a next step each", () => {
    const table = failureCodes.map((code) => {
      const { message, details } = failure(code);
      return `${statusOf(code)} ${code}: ${message}${details?.hint === undefined ? "" : `\n    → ${details.hint}`}`;
    });
    expect(`\n${table.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      400 ErrorBadRequest: The request is not valid
          → The message names the parameter; GET /openapi.json describes every operation
      400 ErrorTenantRequired: Tenant name is required
          → Name the tenant (an owner, such as \`demo\`) in the path, as \`?tenant=\` or as \`tenant\` of the body
      400 ErrorTenantInvalid: Tenant name is not valid
          → Use 1 to 100 letters, digits, dots and hyphens, such as \`demo\` or \`io.github.acme\`
      400 ErrorMCPServerNameRequired: MCP server name is required
          → Name the server in the path, as \`?name=\` or as \`name\` of the body
      400 ErrorMCPServerNameInvalid: MCP server name is not valid
          → Use 1 to 128 letters, digits, dots, underscores and hyphens, such as \`weather\`
      400 ErrorInvalidBody: The request body is not valid JSON or YAML
          → Check the body at the place that the message names; send it as UTF-8
      400 ErrorVersionExists: The version is published already, and a published version never changes
          → Publish a higher version
      400 ErrorRemoteTaken: The remote URL is already used by another server; a URL can belong to one server
          → Remove the remote from one of the two servers
      400 ErrorTooManyVersions: The server has the maximum number of versions
          → Publish under another server name
      400 ErrorNoChange: No changes to apply: the version already has this status and message
          → Send another \`status\` or \`statusMessage\`, or nothing
      400 ErrorCursorInvalid: This cursor belongs to a different list, filter or caller. Start again without \`cursor\`
          → Send \`nextCursor\` of the page before, with the same parameters and token
      401 ErrorUnauthorized: Unauthorized access
          → Send \`Authorization: Bearer …\`; make a token with \`npm run token -- --tenant demo\`
      401 ErrorWebhookUnverified: Webhook rejected: unknown hook, wrong signature, or timestamp more than 5 minutes off
          → Check the URL, the secret and the clock; docs/how-to/hooks.md shows how to sign
      401 ErrorSessionMissing: Missing session ID. Please negotiate capabilities first.
          → POST /mcp/negotiate, then send its \`X-MCP-Session-ID\`
      401 ErrorSessionInvalid: Invalid session ID. Please negotiate capabilities again.
          → Sessions end after an hour without use: POST /mcp/negotiate, or /mcp/session/resume with the resume token
      401 ErrorResumeInvalid: Invalid resume token. Please negotiate capabilities again.
          → A resume token works once, for the caller who negotiated: POST /mcp/negotiate
      403 ErrorTenantPermissionError: You do not have permission to access this tenant
          → GET /api/whoami shows the tenants of your token
      403 ErrorInsufficientScope: The token lacks a scope that this needs
          → npm run token -- --scope 'registry:read registry:publish'
      403 ErrorHookEvent: The hook may not send this event
          → Register a hook whose \`events\` include it
      403 ErrorCapabilityRequired: Client does not support a required capability
          → POST /mcp/negotiate with the capability in \`supported_capabilities\`, then send X-MCP-Session-ID
      403 ErrorIndexDisabled: This variant of the capability index is not advertised
          → PUT /api/index/{tenant}/advertise advertises it
      404 ErrorNotFound: There is nothing at this path
          → GET /openapi.json lists every path
      404 ErrorMCPServerNotFound: MCP server not found
          → GET /api/mcp/configs?tenant={tenant} lists the servers of a tenant
      404 ErrorCapabilityNotFound: Capability not found
          → GET /api/mcp/capabilities/{tenant}/{name} lists what a server has, with ids
      404 ErrorFlagNotFound: The content with this digest has no such flag
          → GET /api/flags?tenant={tenant} lists what is flagged, with digest, rule and path
      404 ErrorHookNotFound: Hook not found
          → GET /api/hooks?tenant={tenant} lists the hooks of a tenant
      404 ErrorSubscriptionNotFound: Subscription not found
          → GET /api/subscriptions?tenant={tenant} lists the subscriptions of a tenant
      404 ErrorVersionNotFound: The server has no such version
          → GET /v0.1/servers/{serverName}/versions lists them
      404 ErrorRevisionNotFound: No such revision is retained
          → GET /api/mcp/capabilities/{tenant}/{name}/revisions lists the last 100
      404 resource_not_found: There is no such capability resource
          → GET /mcp/resource?uri=capabilities://server reads the registry's own
      404 ErrorToolNotFound: There is no such tool
          → GET /mcp/tool lists those there are
      403 ErrorOriginRefused: This browser origin is not allowed; add it to MCP_ORIGINS
          → Operator: add the origin to the setting MCP_ORIGINS
      403 ErrorFormRefused: The form did not come from a page of this registry
          → Open the page of this registry and send the form from there
      403 ErrorHostRefused: This host is not allowed for /mcp; add it to MCP_HOSTS
          → Use the address that the registry announces, or add the host to the setting MCP_HOSTS
      406 ErrorNotAcceptable: The Accept header must list both application/json and text/event-stream
          → Send \`Accept: application/json, text/event-stream\`
      405 ErrorMethodNotAllowed: The path does not allow this method
          → \`Allow\` lists the methods of this path; GET /openapi.json describes them
      409 ErrorMCPServerExists: MCP server already exists
          → PUT /api/mcp/configs changes it; DELETE /api/mcp/configs/{tenant}/{name} deletes it
      409 ErrorGeneratorExists: A generator of this type is registered already
          → Choose another \`type\`, or delete the registered one first
      409 ErrorCapabilityCollision: A capability id is already used by another server of the tenant. Ids are unique per tenant
          → Set another \`id\`, or publish with ?partial=true to leave the item out
      409 ErrorServerPrivate: The server is private; /v0.1 publishes publicly
          → Set \`visibility: "public"\` first: PUT /api/mcp/configs
      409 ErrorVersionDerived: The server has no server.json versions
          → Change \`status\` in its config: PUT /api/mcp/configs
      409 ErrorSameVersion: The manifest changed while its version did not
          → Raise \`version\`, or change \`policy\` of the server: PUT /api/mcp/configs
      409 ErrorPublishSuperseded: Another write to this server was accepted while this publish was being stored; nothing of this one was published
          → GET the server again, then publish what is still to be changed
      409 ErrorCapabilityDeclined: Server does not support a required capability
          → Leave it out of \`required\` in the extension dev.rollcall/negotiation
      409 ErrorNoSubset: This session has no chosen capabilities. Negotiate with \`extensions["dev.rollcall/context"]: {budget, task}\`
          → POST /mcp/negotiate again; docs/explanation/negotiation.md shows the extension
      409 ErrorNoSources: The server has no MCP sources to read
          → Add \`sources\` to its config (PUT /api/mcp/configs), or publish a manifest
      409 ErrorTooManySubscriptions: The tenant has the maximum number of subscriptions
          → Delete one first: DELETE /api/subscriptions/{tenant}/{id}
      409 ErrorTooManyAcknowledged: The server has the maximum number of acknowledged flags
          → Take one back first: POST /api/flags/{digest}/acknowledge {"acknowledged": false}
      409 ErrorTooManyHooks: The tenant has the maximum number of hooks
          → Delete one first: DELETE /api/hooks/{tenant}/{id}
      410 ErrorCursorExpired: The search results changed since page one. Start again without \`cursor\`
          → Ask for the first page again
      410 ErrorHookDisabled: This hook is disabled
          → Enable it: PATCH /api/hooks/{tenant}/{id} {"enabled": true}
      412 ErrorPreconditionFailed: If-Match does not match: the server has changed. Read it again, then retry
          → GET it again and send its new ETag as If-Match
      412 ErrorGenerationAhead: The tenant has not reached that generation
          → Send the generation of an answer to a write, or leave out Rollcall-Min-Generation
      412 ErrorDirectoryAhead: The directory has not reached that state
          → Send the \`Rollcall-Directory\` of a later answer, or leave out Rollcall-Min-Directory-Generation
      413 ErrorTooLarge: The body is too large
          → Send less at once, or split it over several servers
      413 ErrorIndexTooLarge: The capability index is larger than one answer may be
          → Ask for the index of one server, or POST /api/index/{tenant}/budget
      415 ErrorUnsupportedMediaType: The body must be JSON or YAML
          → Send \`Content-Type: application/json\` and no Content-Encoding
      422 ErrorIdempotencyKeyReused: This Idempotency-Key was used for another request
          → Choose a new key for each new request, and send a request again with the key it had
      422 ErrorParameterInvalid: A query parameter is not valid
          → The message names the parameter; docs/reference/official-registry.md lists them
      422 ErrorServerJsonInvalid: The server.json is not valid
          → \`errors\` names each place; POST /v0.1/validate checks without publishing
      422 ErrorMCPServerValidation: MCP server validation failed
          → \`details.issues\` names each place; ?dryRun=true checks without publishing
      422 ErrorToolArguments: The arguments do not fit the tool
          → GET /mcp/tool has the input schema of each tool
      422 ErrorHookInvalid: The hook's settings are not valid
          → docs/how-to/hooks.md lists the settings of a hook
      422 ErrorSubscriptionInvalid: The subscription's settings are not valid
          → docs/how-to/subscriptions.md lists the settings of a subscription
      422 ErrorAddressRefused: The registry will not send requests to this address. Use a public https URL on the default port
          → https, public name, port 443; for development ALLOW_LOOPBACK_FETCH=true
      422 ErrorEventInvalid: The event is not valid
          → docs/how-to/hooks.md shows each event; \`details.issues\` names each place
      422 ErrorNegotiationInvalid: Negotiation request is not valid
          → \`details.issues\` names each place; docs/explanation/negotiation.md shows a request
      429 ErrorTooManyRequests: Too many requests
          → Wait for the seconds in Retry-After, then retry
      499 ErrorToolCancelled: The call was cancelled
      500 ErrorInternalServer: Internal error
      502 ErrorSourceUnavailable: Failed to fetch capabilities
          → Check the address and credential of the source: GET /api/mcp/configs/{tenant}/{name} shows what it said
      501 ErrorNotImplemented: The registry does not support this
      500 server_error: The capability data could not be generated
          → Retry with \`Cache-Control: no-cache\`, or publish the manifest again
      503 ErrorNewerData: This data was written by a newer version of Rollcall: it can be read here, but not written
          → Run the version that wrote it, or a newer one
      503 ErrorNotConfigured: The registry is not configured for this
      503 ErrorUnavailable: Temporarily unavailable, retry after 1 s
      "
    `);
  });

  it("have a hint wherever the caller can mend them", () => {
    // 499 is the caller's own doing.
    const mendable = failureCodes.filter((code) => statusOf(code) >= 400 && statusOf(code) < 499);
    expect(mendable.filter((code) => failure(code).details?.hint === undefined)).toEqual([]);
  });

  it("name operations that there are", () => {
    const served = new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
    const hints = failureCodes.map((code) => failure(code).details?.hint ?? "").join("\n");
    const named = Array.from(hints.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w./{}]*)/g), ([text]) => text);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((text) => !served.has(text))).toEqual([]);
  });

  it("keep a message and details that are given, and their hint where it is more precise", () => {
    expect(failure("ErrorMCPServerNotFound", "No weather", { tenant: "demo" })).toEqual({
      code: "ErrorMCPServerNotFound",
      message: "No weather",
      details: { tenant: "demo", hint: failure("ErrorMCPServerNotFound").details?.hint },
    });
    expect(failure("ErrorNotFound", undefined, { hint: "Look there" }).details).toEqual({ hint: "Look there" });
    expect(failure("ErrorInternalServer")).toEqual({ code: "ErrorInternalServer", message: "Internal error" });
  });
});
