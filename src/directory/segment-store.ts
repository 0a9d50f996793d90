import { type CacheApi, logStorageError } from "../kernel/platform/cache-api.ts";
import { readDocuments } from "./read-documents.ts";
import { chunkKey, segmentKey } from "./root.ts";
import { alignedBytes, decodeSegment, type Segment } from "./segment.ts";
import type { LoadedSegment, SegmentForm } from "./view.ts";

interface SegmentStoreOptions {
  kv: Pick<KVNamespace, "get">;
  edge: CacheApi;
  forms: readonly SegmentForm<unknown>[];
  inBackground: (work: Promise<unknown>) => void;
}

const segmentSeconds = 86_400;

/** Reads segments and their documents from the Cache API and KV. Keys are never used for another content. */
export class SegmentStore {
  readonly #options: SegmentStoreOptions;

  constructor(options: SegmentStoreOptions) {
    this.#options = options;
  }

  /** A segment with its forms; undefined if it is missing or cannot be read. */
  async load(epoch: string, id: number): Promise<LoadedSegment | undefined> {
    const key = segmentKey(epoch, id);
    let problem = "missing";
    for (const from of ["cache", "kv"] as const) {
      const value = await (from === "cache" ? this.#cached(key) : this.#stored(key));
      if (value === undefined) continue;
      const segment = decodeSegment(alignedBytes(value));
      if (segment.ok) {
        if (from === "kv") this.#keep(key, value);
        return this.withForms(segment.value, (chunk) => chunkKey(epoch, id, chunk));
      }
      problem = segment.error;
    }
    logStorageError(key, problem);
    return undefined;
  }

  /** The documents of versions of one segment; undefined if one is missing. */
  documents(loaded: LoadedSegment, versions: readonly number[]): Promise<string[] | undefined> {
    return readDocuments(loaded, versions, async (key) => {
      const cached = await this.#cached(key);
      const bytes = cached ?? (await this.#stored(key));
      if (cached === undefined && bytes !== undefined) this.#keep(key, bytes);
      return bytes;
    });
  }

  withForms(segment: Segment, keyOf?: (chunk: number) => string): LoadedSegment {
    let bytes = segment.bytes;
    const forms = new Map<string, unknown>();
    for (const form of this.#options.forms) {
      const built = form.build(segment);
      forms.set(form.name, built);
      bytes += form.bytesOf(built);
    }
    return { segment, forms, bytes, chunkKey: keyOf };
  }

  #cached(key: string): Promise<Uint8Array | undefined> {
    return this.#options.edge.readBytes(key);
  }

  async #stored(key: string): Promise<Uint8Array | undefined> {
    const value = await this.#options.kv.get(key, "arrayBuffer").catch((cause) => logStorageError("KV read", cause));
    return value == null ? undefined : new Uint8Array(value);
  }

  #keep(key: string, value: Uint8Array): void {
    this.#options.inBackground(this.#options.edge.writeBytes(key, value, segmentSeconds));
  }
}
