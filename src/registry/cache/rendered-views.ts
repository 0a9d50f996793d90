import type { MemoryBudget, MemoryCache } from "../../kernel/memory-budget.ts";
import { refOf } from "../../kernel/names.ts";
import type { AnswerSource, Usage } from "../../kernel/platform/usage.ts";
import type { Head } from "../contract.ts";
import { visibleManifest } from "../views/enabled.ts";
import type { View } from "../views/view.ts";
import type { Bodies } from "./bodies.ts";
import type { PublicAnswers } from "./public-answers.ts";

const encoder = new TextEncoder();

/** A rendered view and the layer its body came from. No bytes: the server has no such view. */
interface Rendered {
  bytes?: Uint8Array;
  source: AnswerSource;
}

/** Caches rendered views in memory, ready to send: a hot read neither renders nor parses. */
export class RenderedViews {
  readonly #bodies: Bodies;
  readonly #operations: Usage;
  readonly #memory: MemoryCache<Uint8Array>;

  readonly #shared: PublicAnswers | undefined;

  /** `shared` is what all data centres share of public servers, where the platform has a cache for it. */
  constructor(bodies: Bodies, memory: MemoryBudget, operations: Usage, shared?: PublicAnswers) {
    this.#bodies = bodies;
    this.#shared = shared;
    this.#operations = operations;
    this.#memory = memory.cache("views");
  }

  peek(head: Head, view: View): Uint8Array | undefined {
    const bytes = this.#memory.get(keyOf(head, view));
    if (bytes !== undefined) this.#operations.memory += 1;
    return bytes;
  }

  /** undefined if the body of the head's digest is no longer retained: the head is outdated. */
  async render(head: Head, view: View): Promise<Rendered | undefined> {
    const known = this.peek(head, view);
    if (known !== undefined) return { bytes: known, source: "memory" };
    const shared = await this.#shared?.view(head, view);
    if (shared !== undefined) return { bytes: this.#remember(head, view, shared), source: "edge" };
    const body = head.digest === undefined ? undefined : await this.#bodies.get(refOf(head), head.digest);
    if (head.digest !== undefined && body === undefined) return undefined;
    const text = view.render(body && visibleManifest(body.manifest, head), head);
    if (text === undefined) return { source: body?.source ?? "memory" };
    const bytes = this.#remember(head, view, encoder.encode(text));
    return { bytes, source: body?.source ?? "memory" };
  }

  #remember(head: Head, view: View, bytes: Uint8Array): Uint8Array {
    this.#memory.set(keyOf(head, view), bytes, bytes.byteLength);
    return bytes;
  }
}

/** `lastSynced` changes without changing the ETag, so it must be part of this key. */
function keyOf(head: Head, view: View): string {
  return `${head.tenant}/${head.name} ${head.digest} ${head.overlay} ${head.lastSynced} ${view.version}`;
}
