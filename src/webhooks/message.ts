import { err, ok, type Result } from "../kernel/result.ts";

/** Id and timestamp from the headers of a message. Both are signed. */
export interface MessageHead {
  id: string;
  /** Epoch seconds. */
  timestamp: number;
}

export type MessageFault = "id" | "timestamp" | "too-old" | "too-new";

const toleranceSeconds = 300;

/**
 * Dots separate the signed parts, so a dot in an id would let one signature match two messages. The other limits let
 * the id be used as a storage key.
 */
const idPattern = /^[A-Za-z0-9_-]{1,128}$/;
export const messageIdRule = "must be 1 to 128 of A-Z, a-z, 0-9, '_' and '-'; a dot separates the signed parts";

/** Digits only: a lenient parser reads `1614265330abc` as a number that nobody signed. */
const timestampPattern = /^(?:0|[1-9]\d{0,11})$/;

export function isMessageId(id: string): boolean {
  return idPattern.test(id);
}

/** Reads id and timestamp, and refuses a timestamp more than 300 s from `now` (milliseconds). */
export function readMessageHead(id: string, timestamp: string, now: number): Result<MessageHead, MessageFault> {
  if (!isMessageId(id)) return err("id");
  if (!timestampPattern.test(timestamp)) return err("timestamp");
  const seconds = Number(timestamp);
  const age = Math.floor(now / 1_000) - seconds;
  if (age > toleranceSeconds) return err("too-old");
  if (age < -toleranceSeconds) return err("too-new");
  return ok({ id, timestamp: seconds });
}

/** The signed bytes. The body is used as received: parsed and serialised again it could differ. */
export function signedBytes({ id, timestamp }: MessageHead, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(start.byteLength + body.byteLength);
  bytes.set(start);
  bytes.set(body, start.byteLength);
  return bytes;
}
