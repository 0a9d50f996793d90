import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { pointer } from "../kernel/issue.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import type { Negotiated } from "./answer-schema.ts";
import { contextCapability } from "./context/capability.ts";
import { agreementOn, type ChosenSubset, type Session, type SessionRecord } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";
import type { SessionExtension } from "./extension.ts";
import { resumeWindowMs } from "./lifetime.ts";
import { heldCapabilities, negotiate } from "./negotiate.ts";
import { clientOffers, serverCapabilities } from "./offers.ts";
import { endStreams, ownerOf } from "./owner.ts";
import { newResumeSecret, resumeToken } from "./resume-token.ts";
import { NegotiationConditions, type NegotiationRequest } from "./schema.ts";

/** Extensions that are offered in every negotiation. */
export const sessionExtensions: readonly SessionExtension[] = [contextCapability];

const conditionsName = "dev.rollcall/negotiation";

/** A session under a new id, with data that only its client receives. */
export interface OpenedSession {
  session: Session & { id: string };
  resumeToken?: string;
  /** Answers of the extensions; absent for a resumed session. */
  extensions?: Record<string, unknown>;
}

/** Negotiates and opens a session. All checks run before anything is stored. */
export async function openSession(
  services: SessionsDeps,
  principal: Principal,
  request: NegotiationRequest,
): Promise<Result<OpenedSession, Failure>> {
  const own = serverCapabilities(principal).map(({ name }) => name);
  const negotiated = negotiate(request, [...clientOffers, ...sessionExtensions], own);
  const error = checkConditions(services, request, negotiated) ?? checkExtensions(request, negotiated);
  if (error !== undefined) return err(error);

  const extensions: Record<string, unknown> = {};
  let subset: ChosenSubset | undefined;
  for (const custom of sessionExtensions) {
    const agreement = agreementOn({ negotiated }, custom.name);
    const wish = request.extensions?.[custom.name];
    if (agreement === undefined || wish === undefined) continue;
    const answered = await custom.answer(custom.wish.parse(wish), { services, principal, agreed: agreement });
    if (!answered.ok) return answered;
    extensions[custom.name] = answered.value.answer;
    subset ??= answered.value.subset;
  }
  const record: SessionRecord = {
    owner: ownerOf(principal),
    clientName: request.client_name,
    clientVersion: request.client_version,
    clientCapabilities: request.supported_capabilities,
    held: heldCapabilities(request.supported_capabilities, negotiated),
    negotiated,
    authContext: authContextOf(principal),
    createdAt: services.now(),
    subset,
  };
  const refused = await allowanceObjection(services, principal);
  if (refused !== undefined) return err(refused);
  return ok({ ...(await store(services, record)), extensions });
}

/** Sessions of callers without a token are objects that anyone can make, so the deployment has a limit of its own. */
async function allowanceObjection(
  { config, anonymousNegotiateLimiter, anonymousAllowance, now }: SessionsDeps,
  { anonymous, subject }: Principal,
): Promise<Failure | undefined> {
  if (!anonymous) return undefined;
  const { network, anHour } = config.anonymousNegotiateLimit;
  // The subject of such a caller is its network.
  const allowed = anonymousNegotiateLimiter.consume(subject, now());
  if (!allowed.ok) {
    const rule = `your network may open ${network.burst} a minute`;
    return tooManySessions(rule, network.burst, allowed.retryAfterSeconds);
  }
  const taken = await anonymousAllowance.take();
  if (taken.ok) return undefined;
  return tooManySessions(`all networks together may open ${anHour} an hour`, anHour, taken.retryAfterSeconds);
}

function tooManySessions(rule: string, limit: number, retryAfterSeconds: number): Failure {
  const hint = `Retry in ${retryAfterSeconds} s, or send a token; operator: the setting ANONYMOUS_NEGOTIATE_LIMIT raises it`;
  return failure("ErrorTooManyRequests", `Too many sessions of callers without a token: ${rule}`, {
    ...{ retryAfterSeconds, hint, setting: "ANONYMOUS_NEGOTIATE_LIMIT" },
    bound: { name: "anonymousSessions", limit },
  });
}

/** Resumes a session under a new id, once. The caller's current token decides what the caller may read. */
export async function resumeSession(
  services: SessionsDeps,
  principal: Principal,
  { sessionId, hash }: { sessionId: string; hash: string },
): Promise<Result<OpenedSession | undefined, Failure>> {
  // First: the token works once.
  const refused = await allowanceObjection(services, principal);
  if (refused !== undefined) return err(refused);
  const record = await services.sessions.redeemResumeToken(sessionId, ownerOf(principal), hash);
  if (record === undefined) return ok(undefined);
  await endStreams(services, principal, { ...record, id: sessionId });
  return ok(await store(services, { ...record, authContext: authContextOf(principal) }));
}

async function store(services: SessionsDeps, record: SessionRecord): Promise<OpenedSession> {
  const resumable = agreementOn(record, "session_resume");
  if (resumable === undefined) return { session: await services.sessions.open(record) };
  const { secret, hash } = await newResumeSecret();
  const windowMs = Number(resumable.parameters?.window_seconds ?? resumeWindowMs / 1_000) * 1_000;
  const resume = { hash, windowMs: Math.min(resumeWindowMs, Math.max(0, windowMs)) };
  const session = await services.sessions.open({ ...record, resume });
  return { session, resumeToken: resumeToken(session.id, secret) };
}

function authContextOf({ anonymous, subject, tenants, scopes }: Principal): SessionRecord["authContext"] {
  return anonymous ? null : { subject, tenants: [...tenants], scopes: [...scopes] };
}

/** Fails if the client lacks a capability that the deployment requires, or the server one that the client requires. */
function checkConditions(
  { config }: SessionsDeps,
  { supported_capabilities, extensions }: NegotiationRequest,
  negotiated: Negotiated,
): Failure | undefined {
  const held = heldCapabilities(supported_capabilities, negotiated);
  const lacking = config.requiredCapabilities.find((name) => !held.includes(name));
  if (lacking !== undefined) return missingCapability(lacking);
  const conditions = extensions?.[conditionsName];
  if (conditions === undefined) return undefined;
  const issues = zodIssues(NegotiationConditions, conditions, pointer("/extensions", conditionsName));
  if (issues[0] !== undefined) return invalid(issues);
  const { required = [] } = NegotiationConditions.parse(conditions);
  const missing = required.find((name) => agreementOn({ negotiated }, name) === undefined);
  if (missing === undefined) return undefined;
  const reason = negotiated.declined.find(({ name }) => name === missing)?.message ?? "It was not declared";
  return failure("ErrorCapabilityDeclined", `Server does not support required capability: ${missing}. ${reason}`);
}

export function missingCapability(name: string, hasSession = true): Failure {
  const again = `POST /mcp/negotiate declaring ${name}, then send X-MCP-Session-ID`;
  return failure("ErrorCapabilityRequired", `Client does not support required capability: ${name}`, {
    capability: name,
    hint: hasSession ? again : `There is no session: ${again}`,
  });
}

/** Fails if `extensions[name]` is invalid, or its extension was not agreed on. Unknown extensions are not stored. */
function checkExtensions({ extensions }: NegotiationRequest, negotiated: Negotiated): Failure | undefined {
  for (const custom of sessionExtensions) {
    const wish = extensions?.[custom.name];
    if (wish === undefined) continue;
    const path = pointer("/extensions", custom.name);
    if (agreementOn({ negotiated }, custom.name) === undefined) {
      const message = `needs ${JSON.stringify(custom.name)} in supported_capabilities, at a version that is compatible with the server's`;
      return invalid([{ path, rule: "undeclared", message }]);
    }
    const issues = zodIssues(custom.wish, wish, path);
    if (issues.length > 0) return invalid(issues);
  }
  return undefined;
}

function invalid(issues: { path: string; rule: string; message: string }[]): Failure {
  const [first] = issues;
  const { message } = failure("ErrorNegotiationInvalid");
  return failure("ErrorNegotiationInvalid", `${message}: ${first?.path} ${first?.message}`, { issues });
}
