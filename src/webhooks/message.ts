import { err, ok, type Result } from "../kernel/result.ts";

/** What names a message, as its headers say. Both are parts of what is signed. */
export interface MessageHead {
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
}

export type MessageFault = "id" | "timestamp" | "too-old" | "too-new";

const toleranceSeconds = 300;

/**
 * A dot in an id would let one signature stand for two messages, as dots part what is signed. The other limits let an
 * id be a key in storage.
 */
const writtenId = /^[A-Za-z0-9_-]{1,128}$/;

/** Digits only: a lenient reader takes `1614265330abc` for a number that nobody signed. */
const writtenTimestamp = /^(?:0|[1-9]\d{0,11})$/;

export function isMessageId(id: string): boolean {
  return writtenId.test(id);
}

/** The id and time of a message, if it was sent about now. `now` is in milliseconds. */
export function readMessageHead(id: string, timestamp: string, now: number): Result<MessageHead, MessageFault> {
  if (!isMessageId(id)) return err("id");
  if (!writtenTimestamp.test(timestamp)) return err("timestamp");
  const seconds = Number(timestamp);
  const age = Math.floor(now / 1_000) - seconds;
  if (age > toleranceSeconds) return err("too-old");
  if (age < -toleranceSeconds) return err("too-new");
  return ok({ id, timestamp: seconds });
}

/** The bytes that are signed. The body is taken as it came: decoded and written again it would be another. */
export function signedBytes({ id, timestamp }: MessageHead, body: Uint8Array): Uint8Array {
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(start.byteLength + body.byteLength);
  bytes.set(start);
  bytes.set(body, start.byteLength);
  return bytes;
}
