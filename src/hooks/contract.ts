import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { AcceptedManifest } from "../manifest/prepare.ts";
import type { Head, PublishOutcome, Writer } from "../registry/contract.ts";
import type { ServerStatus } from "../registry/schema.ts";
import type {
  EventOutcome,
  Hook,
  HookEventType,
  HookFormat,
  HookList,
  HookWithDeliveries,
  RemovedHook,
} from "./schema.ts";

/** A secret or public key. `until` is when it expires. */
export interface HookKey {
  id: string;
  text: string;
  until?: number;
}

/** What is needed to verify a message before it is accepted. */
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
  signature: Hook["signature"];
  key: HookKey;
  description?: string | undefined;
}

/** A verified and parsed event. */
export type PublisherEvent = { message: string; sequence: number } & (
  | { type: "manifest.published"; manifest: AcceptedManifest; dryRun: boolean }
  | { type: "manifest.changed" }
  | { type: "server.removed"; statusMessage?: string }
  | { type: "server.status"; status: ServerStatus; statusMessage?: string }
);

/** What became of an event in the tenant's object. */
export interface AppliedEvent {
  outcome: Exclude<EventOutcome, "duplicate" | "refused">;
  generation: number;
  digest?: string;
  /** What publishing its manifest did, or would do. */
  published?: PublishOutcome;
  /** Warnings about an event without a manifest. */
  warnings?: string[];
}

/** Outcome of an event, with the current head of the server. */
export interface ReceivedEvent extends Omit<AppliedEvent, "outcome"> {
  outcome: Exclude<EventOutcome, "refused">;
  head?: Head;
}

/** Hook methods of the tenant object. */
export interface HooksTenant {
  /** The secret is that of the first request, if this one repeats it; undefined for a public key. */
  registerHook(
    hook: NewHook,
    by: Pick<Writer, "subject" | "idempotency">,
  ): Promise<Result<{ hook: Hook; secret?: string }, Failure>>;
  hooks(): Promise<HookList>;
  hook(id: string): Promise<Result<HookWithDeliveries, Failure>>;
  changeHook(id: string, change: { enabled?: boolean; description?: string }): Promise<Result<Hook, Failure>>;
  rotateHook(
    id: string,
    rotation: { key: HookKey; signature: Hook["signature"]; overlapMs: number },
    by: Pick<Writer, "subject" | "idempotency">,
  ): Promise<Result<{ hook: Hook; secret?: string }, Failure>>;
  removeHook(id: string): Promise<Result<RemovedHook, Failure>>;
  /** Ids that the platform does not vouch for: of hooks registered by an earlier release, or in another deployment. */
  otherHookIds(): Promise<string[]>;
  /** What is needed to verify a message; undefined if the hook does not exist. */
  hookCredentials(id: string): Promise<HookCredentials | undefined>;
  /** Applies an event that was verified with one of the hook's keys. A repeated message has no further effect. */
  receiveEvent(id: string, keyId: string, event: PublisherEvent): Promise<Result<ReceivedEvent, Failure>>;
  /** Records for the owner why a verified message had no effect. */
  recordRefusedEvent(id: string, message: string, type: string, reason: string): Promise<void>;
}
