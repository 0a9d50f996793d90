import type { Classification, Reason } from "../manifest/classify/classify.ts";
import type { CapabilityCard } from "../search/contract.ts";
import type { Agreed, Negotiated } from "./negotiate.ts";

/** A session expires when it has not been used for longer than this. */
export const sessionIdleMs = 3_600_000;
/** A use within this time of the stored last activity is not written. */
export const activityWriteMs = 60_000;
/** How long an isolate may cache a session. An ended session stays valid in other isolates for at most this time. */
export const sessionTrustMs = 5_000;
/** How long after its expiry a session can be resumed. */
export const resumeWindowMs = 86_400_000;

/** The owner of a session: a token's subject, or any anonymous caller. */
export type SessionOwner = { subject: string } | "anonymous";

export function sameOwner(a: SessionOwner, b: SessionOwner): boolean {
  if (a === "anonymous" || b === "anonymous") return a === b;
  return a.subject === b.subject;
}

/** A capability chosen for a session, with its digest at that time. */
export type ChosenItem = Pick<CapabilityCard, "tenant" | "server" | "kind" | "key" | "id" | "digest" | "tokens">;

/** The capabilities chosen for a session. Changes after `since`, the tenant's generation then, are reported. */
export interface ChosenSubset {
  items: ChosenItem[];
  servers: { tenant: string; server: string; since: number; wasPublic: boolean }[];
}

/** The outcome of one negotiation. Holds no token: the token of each request decides what the caller may read. */
export interface SessionRecord {
  owner: SessionOwner;
  clientName: string;
  clientVersion: string;
  clientCapabilities: string[];
  /** Declared capabilities that count towards requirements. */
  held: string[];
  negotiated: Negotiated;
  authContext: { subject: string; tenants: string[]; scopes: string[] } | null;
  /** Epoch milliseconds. */
  createdAt: number;
  subset?: ChosenSubset;
  /** SHA-256 of the resume token's secret, and how long after expiry the token is valid. */
  resume?: { hash: string; windowMs: number };
}

/** A live session as a request sees it. */
export interface Session extends SessionRecord {
  /** Absent for a client that did not negotiate. */
  id?: string;
  lastActivity: number;
}

export function isExpired(lastActivity: number, now: number): boolean {
  return now - lastActivity > sessionIdleMs;
}

/** When the session's data can be deleted: after its expiry and resume window. */
export function deleteAt({ resume }: Pick<SessionRecord, "resume">, lastActivity: number): number {
  return lastActivity + sessionIdleMs + (resume?.windowMs ?? 0);
}

/** How long a checked session may be cached: never past the time when the next use must be written. */
export function trustMs(lastActivity: number, now: number): number {
  return Math.max(0, Math.min(sessionTrustMs, lastActivity + activityWriteMs - now));
}

/** The session of a client that did not negotiate. Not stored, and without an id. */
export function anonymousSession(owner: SessionOwner, now: number): Session {
  return {
    owner,
    clientName: "anonymous",
    clientVersion: "unknown",
    clientCapabilities: ["basic"],
    held: ["basic"],
    negotiated: { capabilities: [], declined: [] },
    authContext: null,
    createdAt: now,
    lastActivity: now,
  };
}

export function agreementOn({ negotiated }: Pick<SessionRecord, "negotiated">, name: string): Agreed | undefined {
  return negotiated.capabilities.find((capability) => capability.name === name);
}

/** How the current version of a capability differs from the pinned version. */
export interface PinComparison {
  classification: Classification;
  breaking: boolean;
  reasons: Reason[];
}

/** A valid session, and how long it may be cached. */
export interface CheckedSession {
  record: SessionRecord;
  lastActivity: number;
  reusableMs: number;
}

/** Methods of a session's object. */
export interface SessionStub {
  open(record: SessionRecord): Promise<{ lastActivity: number }>;
  use(owner: SessionOwner): Promise<CheckedSession | undefined>;
  end(owner: SessionOwner): Promise<boolean>;
  redeemResumeToken(owner: SessionOwner, resumeHash: string): Promise<SessionRecord | undefined>;
}

/** Methods of a tenant's object that sessions use. */
export interface SessionsTenant {
  /** Compares the current capabilities with their pinned versions, one verdict per pin. */
  compare(
    pins: readonly { id: string; digest: string }[],
    options: { onlyPublic: boolean },
  ): Promise<{ verdicts: (PinComparison | undefined)[] }>;
}
