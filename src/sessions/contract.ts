import type { Classification, Reason } from "../manifest/classify/classify.ts";
import type { CapabilityCard } from "../search/contract.ts";
import type { Agreed, Negotiated } from "./answer-schema.ts";

/** The owner of a session: a token's subject, or any anonymous caller. */
export type SessionOwner = { subject: string } | "anonymous";

export function sameOwner(a: SessionOwner, b: SessionOwner): boolean {
  if (a === "anonymous" || b === "anonymous") return a === b;
  return a.subject === b.subject;
}

/** A capability chosen for a session, with its digest and record at that time. */
export type ChosenItem = Pick<
  CapabilityCard,
  "tenant" | "server" | "kind" | "key" | "id" | "digest" | "tokens" | "registry"
>;

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
  /** Tenants as the token's keys. Shown as far as the caller still holds them. */
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

/** What an isolate asks for, and what it gives back of its last lease, which was counted in the hour that ends then. */
export interface LeaseRequest {
  wanted: number;
  unused: number;
  hourEnds: number;
}

/** So many sessions may be opened until then, in epoch milliseconds; 0 if the deployment has had its share. */
export interface SessionLease {
  sessions: number;
  until: number;
}

/** Of the one object that counts sessions of callers without a token. */
export interface SessionLeases {
  leaseSessions(mostAnHour: number, request: LeaseRequest): Promise<SessionLease>;
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
