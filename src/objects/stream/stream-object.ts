import { DurableObject } from "cloudflare:workers";
import { type Failure, failure } from "../../domain/failure.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { tenantOf } from "../tenant/tenant-stub.ts";
import { OpenStream, type StreamOptions } from "./open-stream.ts";

/** A watch outlives the stream it is for by this much at most, should the news of its end be lost. */
const watchSlackMs = 60_000;

/**
 * The live streams of one caller. Tenants tell it that something changed only while it watches them, and it fetches
 * what changed for each stream. Nothing is stored: when the last client leaves, the object can go.
 */
export class StreamObject extends DurableObject<Env> {
  readonly #streams = new Set<OpenStream>();
  /** One fetch at a time for a tenant, so that changes go out in order and once. */
  readonly #fetching = new Map<string, Promise<void>>();

  /** An RPC method that returns the stream hears when the client leaves; a response from `fetch` would not. */
  async open(options: StreamOptions, mostStreams: number): Promise<Result<ReadableStream<Uint8Array>, Failure>> {
    if (this.#streams.size >= mostStreams) {
      const message = `You have ${this.#streams.size} streams open already; close one first`;
      return err(failure("ErrorTooManyRequests", message, { retryAfterSeconds: 5 }));
    }
    const stream = new OpenStream(options, () => {
      this.#streams.delete(stream);
      this.ctx.waitUntil(this.#unwatch(stream.tenants));
    });
    this.#streams.add(stream);
    const until = Date.now() + options.lifetimeMs + watchSlackMs;
    // Watching first and fetching after: what changes in between is fetched, and what comes later is told.
    try {
      await Promise.all(stream.tenants.map((tenant) => tenantOf(this.env, tenant).watch(this.#id, until)));
    } catch (cause) {
      stream.close();
      throw cause;
    }
    for (const tenant of stream.tenants) this.ctx.waitUntil(this.notify(tenant));
    return ok(stream.readable);
  }

  /** A tenant says that it changed. False: nobody here follows it any more. */
  async notify(tenant: string): Promise<boolean> {
    const before = this.#fetching.get(tenant) ?? Promise.resolve();
    const next = before.then(() => this.#fetchChanges(tenant));
    this.#fetching.set(tenant, next);
    await next.finally(() => {
      if (this.#fetching.get(tenant) === next) this.#fetching.delete(tenant);
    });
    return this.#following(tenant).length > 0;
  }

  async endSession(session: string): Promise<void> {
    for (const stream of [...this.#streams]) if (stream.session === session) stream.close();
  }

  async count(): Promise<number> {
    return this.#streams.size;
  }

  async #fetchChanges(tenant: string): Promise<void> {
    for (const stream of this.#following(tenant)) {
      for (let topic = stream.topic(tenant); topic !== undefined && !stream.closed; ) {
        const { changes, upTo, generation } = await tenantOf(this.env, tenant).changesOf(topic);
        stream.advance(tenant, changes, upTo);
        if (upTo >= generation) break;
      }
    }
  }

  async #unwatch(tenants: string[]): Promise<void> {
    const left = tenants.filter((tenant) => this.#following(tenant).length === 0);
    await Promise.all(left.map((tenant) => tenantOf(this.env, tenant).unwatch(this.#id)));
  }

  #following(tenant: string): OpenStream[] {
    return [...this.#streams].filter((stream) => stream.topic(tenant) !== undefined);
  }

  get #id(): string {
    return this.ctx.id.toString();
  }
}
