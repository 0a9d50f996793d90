import type { Classification, Reason } from "../manifest/classify/classify.ts";
import type { CapabilityCard } from "../search/contract.ts";
import type { Agreed, Negotiated } from "./negotiate.ts";

/** Whom a session belongs to: a token's subject, or nobody in particular. */
export type SessionOwner = { subject: string } | "anonymous";

export function sameOwner(a: SessionOwner, b: SessionOwner): boolean {
  if (a === "anonymous" || b === "anonymous") return a === b;
  return a.subject === b.subject;
}

/** One capability that was chosen for a session, and the digest it was chosen at. */
export type ChosenItem = Pick<CapabilityCard, "tenant" | "server" | "kind" | "key" | "id" | "digest" | "tokens">;

/** What was chosen. Changes are those after `since`: the tenant's generation that the server was seen at. */
export interface ChosenSubset {
  items: ChosenItem[];
  servers: { tenant: string; server: string; since: number; wasPublic: boolean }[];
}

/** The outcome of one negotiation. Holds no token: who may read what is decided by the token of each request. */
export interface SessionRecord {
  owner: SessionOwner;
  clientName: string;
  clientVersion: string;
  clientCapabilities: string[];
  /** Those that count towards requirements. */
  held: string[];
  negotiated: Negotiated;
  authContext: { subject: string; tenants: string[]; scopes: string[] } | null;
  /** Epoch milliseconds. */
  createdAt: number;
  subset?: ChosenSubset;
  /** SHA-256 of the secret half of the token that resumes it, and for how long after expiry. */
  resume?: { hash: string; windowMs: number };
}

/** A live session as a request sees it. */
export interface Session extends SessionRecord {
  /** Absent for a client that did not negotiate. */
  id?: string;
  lastActivity: number;
}

/** What a client that never negotiated may do. Not stored, and without an id. */
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

/** How the present version of a capability differs from the one that was pinned. */
export interface PinComparison {
  classification: Classification;
  breaking: boolean;
  reasons: Reason[];
}

/** What a check answers: the session, and for how long the answer may be reused without asking again. */
export interface CheckedSession {
  record: SessionRecord;
  lastActivity: number;
  reusableMs: number;
}

/** The verbs of a session, as its callers see them. */
export interface SessionStub {
  open(record: SessionRecord): Promise<{ lastActivity: number }>;
  use(owner: SessionOwner): Promise<CheckedSession | undefined>;
  end(owner: SessionOwner): Promise<boolean>;
  redeemResumeToken(owner: SessionOwner, resumeHash: string): Promise<SessionRecord | undefined>;
}

/** What sessions ask a tenant's object. */
export interface SessionsTenant {
  /** How present capabilities differ from the versions that were pinned, one verdict a pin. */
  compare(
    pins: readonly { id: string; digest: string }[],
    options: { onlyPublic: boolean },
  ): Promise<{ verdicts: (PinComparison | undefined)[] }>;
}
