import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { PreparedManifest } from "../manifest/prepare.ts";
import type { Head } from "../registry/contract.ts";
import type { ServerStatus } from "../registry/schema.ts";
import type { HookEventType } from "./schema.ts";

/** A secret or public key, and until when it is good. */
export interface HookKey {
  id: string;
  text: string;
  until?: number;
}

export type HookFormat = "standard" | "github";

/** An inbound webhook as its owner sees it. */
export interface Hook {
  id: string;
  server: string;
  events: HookEventType[];
  format: HookFormat;
  signature: "secret" | "publicKey";
  enabled: boolean;
  description?: string;
  createdAt: string;
  createdBy: string;
  /** How many secrets or keys are good now, and until when the older ones are. */
  keys: { id: string; until?: string }[];
}

/** What is needed to judge a message before it is taken. */
export interface HookCredentials {
  server: string;
  events: HookEventType[];
  format: HookFormat;
  enabled: boolean;
  keys: HookKey[];
}

export interface NewHook {
  id: string;
  server: string;
  events: readonly HookEventType[];
  format: HookFormat;
  signature: "secret" | "publicKey";
  key: HookKey;
  description?: string | undefined;
}

/** What became of an event. */
export type EventOutcome = "applied" | "unchanged" | "queued" | "duplicate" | "stale" | "refused";

/** One message that arrived through a hook. */
export interface HookDelivery {
  message: string;
  at: string;
  type: string;
  sequence?: number;
  outcome: EventOutcome;
  generation?: number;
  digest?: string;
  /** Why it was refused. */
  reason?: string;
}

/** An event that was verified and read. */
export type PublisherEvent = { message: string; sequence: number } & (
  | { type: "manifest.published"; manifest: Omit<PreparedManifest, "rejected"> }
  | { type: "manifest.changed" }
  | { type: "server.removed" }
  | { type: "server.status"; status: ServerStatus }
);

export interface AppliedEvent {
  outcome: Exclude<EventOutcome, "duplicate" | "refused">;
  generation: number;
  digest?: string;
}

/** An event's outcome, with the head that readers are shown from now on. */
export type ReceivedEvent = Omit<AppliedEvent, "outcome"> & {
  outcome: AppliedEvent["outcome"] | "duplicate";
  head?: Head;
};

/** What hooks ask a tenant's object. */
export interface HooksTenant {
  registerHook(hook: NewHook, subject: string): Promise<Result<Hook, Failure>>;
  hooks(): Promise<Hook[]>;
  hook(id: string): Promise<Result<Hook & { deliveries: HookDelivery[] }, Failure>>;
  changeHook(id: string, change: { enabled?: boolean; description?: string }): Promise<Result<Hook, Failure>>;
  rotateHook(
    id: string,
    rotation: { key: HookKey; signature: Hook["signature"]; overlapMs: number },
  ): Promise<Result<Hook, Failure>>;
  removeHook(id: string): Promise<Result<{ id: string }, Failure>>;
  /** What a message must meet; undefined if the hook does not exist. */
  hookCredentials(id: string): Promise<HookCredentials | undefined>;
  /** Takes an event that was verified with one of the hook's keys. One message has one effect, however often it comes. */
  receiveEvent(id: string, keyId: string, event: PublisherEvent): Promise<Result<ReceivedEvent, Failure>>;
  /** Records for the owner why a verified message had no effect. */
  recordRefusedEvent(id: string, message: string, type: string, reason: string): Promise<void>;
}
