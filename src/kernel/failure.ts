import type { Issue } from "./issue.ts";

/**
 * Every way a request can fail, with its status and default message. A new code needs only an entry here: the
 * serialisers read status and message from this table.
 */
const failures = {
  ErrorBadRequest: [400, "The request is malformed"],
  ErrorTenantRequired: [400, "Tenant name is required"],
  ErrorTenantInvalid: [400, "Tenant name is not valid"],
  ErrorMCPServerNameRequired: [400, "MCP server name is required"],
  ErrorMCPServerNameInvalid: [400, "MCP server name is not valid"],
  ErrorInvalidBody: [400, "The request body cannot be read"],
  ErrorVersionExists: [400, "The version is published already, and a published version never changes"],
  ErrorRemoteTaken: [400, "Another server has a remote at this URL"],
  ErrorTooManyVersions: [400, "The server has as many versions as it may have"],
  ErrorNoChange: [400, "The status is already what it is asked to be"],
  ErrorCursorInvalid: [400, "The cursor is not one of this list's"],
  ErrorUnauthorized: [401, "Unauthorized access"],
  ErrorWebhookUnverified: [401, "The webhook could not be verified"],
  ErrorSessionMissing: [401, "Missing session ID. Please negotiate capabilities first."],
  ErrorSessionInvalid: [401, "Invalid session ID. Please negotiate capabilities again."],
  ErrorResumeInvalid: [401, "Invalid resume token. Please negotiate capabilities again."],
  ErrorTenantPermissionError: [403, "You do not have permission to access this tenant"],
  ErrorInsufficientScope: [403, "The token lacks a scope that this needs"],
  ErrorHookEvent: [403, "The hook may not send this event"],
  ErrorCapabilityRequired: [403, "Client does not support a required capability"],
  ErrorIndexDisabled: [403, "This variant of the capability index is not advertised"],
  ErrorNotFound: [404, "There is nothing at this path"],
  ErrorMCPServerNotFound: [404, "MCP server not found"],
  ErrorCapabilityNotFound: [404, "Capability not found"],
  ErrorFlagNotFound: [404, "The content with this digest has no such flag"],
  ErrorHookNotFound: [404, "Hook not found"],
  ErrorSubscriptionNotFound: [404, "Subscription not found"],
  ErrorVersionNotFound: [404, "The server has no such version"],
  ErrorRevisionNotFound: [404, "The server has no such revision"],
  resource_not_found: [404, "There is no such capability resource"],
  ErrorToolNotFound: [404, "There is no such tool"],
  ErrorOriginRefused: [403, "Pages of this origin may not call here"],
  ErrorHostRefused: [403, "The registry is not at this host"],
  ErrorNotAcceptable: [406, "Accept must name application/json and text/event-stream"],
  ErrorMethodNotAllowed: [405, "The path does not take this method"],
  ErrorMCPServerExists: [409, "MCP server already exists"],
  ErrorGeneratorExists: [409, "A generator of this type is registered already"],
  ErrorCapabilityCollision: [409, "A capability id is taken by another server of the tenant"],
  ErrorServerPrivate: [409, "The server is not public, and publishing here would make it so"],
  ErrorVersionDerived: [409, "The version follows from the server's own settings and manifest"],
  ErrorSameVersion: [409, "The manifest changed while its version did not"],
  ErrorCapabilityDeclined: [409, "Server does not support a required capability"],
  ErrorNoSubset: [409, "The session has chosen no capabilities; negotiate with dev.rollcall/context"],
  ErrorNoSources: [409, "The server has no sources"],
  ErrorTooManySubscriptions: [409, "The tenant has as many subscriptions as it may have"],
  ErrorTooManyAcknowledged: [409, "The server has as many acknowledged flags as it may have"],
  ErrorTooManyHooks: [409, "The tenant has as many hooks as it may have"],
  ErrorCursorExpired: [410, "The results before this page have changed; start from the first page again"],
  ErrorHookDisabled: [410, "The hook is switched off"],
  ErrorPreconditionFailed: [412, "The server has changed since the version named in If-Match"],
  ErrorGenerationAhead: [412, "The tenant has not reached that generation"],
  ErrorTooLarge: [413, "The body is too large"],
  ErrorIndexTooLarge: [413, "The capability index is larger than one answer may be"],
  ErrorUnsupportedMediaType: [415, "The body must be JSON or YAML"],
  ErrorServerJsonInvalid: [422, "The server.json is not valid"],
  ErrorMCPServerValidation: [422, "MCP server validation failed"],
  ErrorToolArguments: [422, "The arguments do not fit the tool"],
  ErrorHookInvalid: [422, "The hook's settings are not valid"],
  ErrorSubscriptionInvalid: [422, "The subscription's settings are not valid"],
  ErrorAddressRefused: [422, "The address is not one that the registry asks"],
  ErrorEventInvalid: [422, "The event is not valid"],
  ErrorNegotiationInvalid: [422, "Negotiation request is not valid"],
  ErrorTooManyRequests: [429, "Too many requests"],
  ErrorToolCancelled: [499, "The call was cancelled"],
  ErrorInternalServer: [500, "Internal error"],
  ErrorSourceUnavailable: [502, "Failed to fetch capabilities"],
  ErrorNotImplemented: [501, "The registry does not do this"],
  server_error: [500, "The capability data could not be generated"],
  ErrorNotConfigured: [503, "The registry is not configured for this"],
  ErrorUnavailable: [503, "The registry cannot answer right now"],
} as const satisfies Record<string, readonly [status: number, message: string]>;

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

interface FailureDetails {
  /** The reason, where `message` of the failure is a text that clients compare. */
  message?: string;
  /** What to do next. */
  hint?: string;
  issues?: Issue[];
  collisions?: IdCollision[];
  retryAfterSeconds?: number;
  [detail: string]: unknown;
}

export function failure(code: FailureCode, message?: string, details?: FailureDetails): Failure {
  const text = message ?? failures[code][1];
  return details === undefined ? { code, message: text } : { code, message: text, details };
}

export function statusOf(code: FailureCode): (typeof failures)[FailureCode][0] {
  return failures[code][0];
}
