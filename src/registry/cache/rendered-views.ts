import { BoundedCache } from "../../kernel/bounded-cache.ts";
import type { AnswerSource, Usage } from "../../kernel/platform/usage.ts";
import type { Head } from "../contract.ts";
import type { View } from "../views/view.ts";
import type { Bodies } from "./bodies.ts";

/** Bytes of rendered views an isolate keeps. */
const memoryBytes = 32 * 1024 * 1024;
const encoder = new TextEncoder();

/** A view's bytes and how far they were; without bytes, the server has no such view. */
export interface Rendered {
  bytes?: Uint8Array;
  source: AnswerSource;
}

/** Views as bytes ready to send, kept in memory: a hot read renders nothing and parses nothing. */
export class RenderedViews {
  readonly #bodies: Bodies;
  readonly #operations: Usage;
  readonly #memory = new BoundedCache<Uint8Array>(memoryBytes);

  constructor(bodies: Bodies, operations: Usage) {
    this.#bodies = bodies;
    this.#operations = operations;
  }

  get bytes(): number {
    return this.#memory.size;
  }

  peek(head: Head, view: View): Uint8Array | undefined {
    const bytes = this.#memory.get(keyOf(head, view));
    if (bytes !== undefined) this.#operations.memory += 1;
    return bytes;
  }

  /** Undefined when the body the head points at is retained no longer: the head is out of date. */
  async render(head: Head, view: View): Promise<Rendered | undefined> {
    const known = this.peek(head, view);
    if (known !== undefined) return { bytes: known, source: "memory" };
    const body = head.digest === undefined ? undefined : await this.#bodies.get(head, head.digest);
    if (head.digest !== undefined && body === undefined) return undefined;
    const text = view.render(body?.manifest, head);
    if (text === undefined) return { source: body?.source ?? "memory" };
    const bytes = encoder.encode(text);
    this.#memory.set(keyOf(head, view), bytes, bytes.byteLength);
    return { bytes, source: body?.source ?? "memory" };
  }
}

/** `lastSynced` moves under an unchanged ETag, so it is part of this key and not of that tag. */
function keyOf(head: Head, view: View): string {
  return `${head.tenant}/${head.name} ${head.digest} ${head.overlay} ${head.lastSynced} ${view.version}`;
}
