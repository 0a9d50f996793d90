import { DurableObject } from "cloudflare:workers";
import type { ChangeFeed, StreamOptions } from "../changes/contract.ts";
import { FollowedLog } from "../changes/follow-log.ts";
import { LiveStream } from "../changes/live-stream.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { objectUsage } from "../kernel/platform/usage.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { FollowedResources } from "../mcp/resources/follow-resources.ts";
import { FollowedSubset } from "../sessions/follow-chosen.ts";
import type { StreamRpc, StreamSubject, Tenant } from "./contract.ts";
import { tenantOf } from "./stubs.ts";

function follow(interest: StreamSubject, tenantOf: (key: TenantKey) => Tenant): ChangeFeed {
  switch (interest.kind) {
    case "subset":
      return new FollowedSubset(interest.topics, tenantOf);
    case "log":
      return new FollowedLog(interest, tenantOf);
    case "resources":
      return new FollowedResources(interest, tenantOf);
  }
}

/** A watch expires this long after its last stream, in case the tenant never receives the `unwatch`. */
const watchSlackMs = 60_000;

/** A tenant without a first write has no tables to store a watcher in, so the watch is retried after this time. */
const watchRetryMs = 2_000;

/**
 * The live streams of one caller. Tenants notify this object of changes only while it watches them, and each stream
 * then fetches the changes. Nothing is stored: when the last client disconnects, the object can be evicted.
 */
export class StreamObject extends DurableObject<Env> implements StreamRpc {
  /** Each stream with the session it belongs to, if any. */
  readonly #streams = new Map<LiveStream, string | undefined>();
  readonly #pendingWatches = new Map<string, Promise<void>>();
  /** Tenants without a first write, for which a retry of the watch is pending. */
  readonly #watchRetries = new Set<string>();

  /**
   * An RPC method, because a stream returned over RPC is cancelled when the client disconnects; a response from `fetch`
   * would not be.
   */
  async open(
    { follows, lifetimeMs, session }: StreamOptions<StreamSubject>,
    maxStreams: number,
  ): Promise<Result<ReadableStream<Uint8Array>, Failure>> {
    const followed = follow(follows, (name) => tenantOf(this.env, name, objectUsage));
    await followed.snapshot?.();
    if (this.#streams.size >= maxStreams) {
      const message = `You have ${this.#streams.size} streams open already; close one first`;
      return err(failure("ErrorTooManyRequests", message, { retryAfterSeconds: 5 }));
    }
    const stream = new LiveStream(followed, lifetimeMs, () => {
      this.#streams.delete(stream);
      for (const tenant of stream.tenants) this.ctx.waitUntil(this.#syncWatch(tenant));
    });
    this.#streams.set(stream, session);
    try {
      await Promise.all(stream.tenants.map((tenant) => this.#syncWatch(tenant)));
    } catch (cause) {
      stream.close();
      throw cause;
    }
    return ok(stream.readable);
  }

  async notify(tenant: TenantKey): Promise<void> {
    const streams = this.#following(tenant);
    if (streams.length === 0) return this.#syncWatch(tenant);
    for (const stream of streams) this.ctx.waitUntil(stream.catchUp(tenant));
  }

  async endSession(session: string): Promise<void> {
    for (const [stream, owner] of [...this.#streams]) if (owner === session) stream.close();
  }

  async count(): Promise<number> {
    return this.#streams.size;
  }

  /**
   * Watches the tenant while a stream follows it, and unwatches it otherwise. Calls for a tenant run one after the
   * other, so that the last one wins: a client that reconnects at once must not lose its watch to the end of its
   * previous stream.
   */
  #syncWatch(tenant: TenantKey): Promise<void> {
    const turn = (this.#pendingWatches.get(tenant) ?? Promise.resolve()).then(() => this.#watch(tenant));
    const over = turn
      .catch(() => {})
      .then(() => {
        if (this.#pendingWatches.get(tenant) === over) this.#pendingWatches.delete(tenant);
      });
    this.#pendingWatches.set(tenant, over);
    return turn;
  }

  async #watch(tenant: TenantKey): Promise<void> {
    const streams = this.#following(tenant);
    const id = this.ctx.id.toString();
    if (streams.length === 0) return tenantOf(this.env, tenant, objectUsage).unwatch(id);
    const until = Math.max(...streams.map(({ endsAt }) => endsAt)) + watchSlackMs;
    const watched = await tenantOf(this.env, tenant, objectUsage).watch(id, until);
    // Watch first, then fetch: changes made in between are fetched, and later ones are notified.
    if (watched) for (const stream of streams) this.ctx.waitUntil(stream.catchUp(tenant));
    else this.ctx.waitUntil(this.#watchLater(tenant));
  }

  async #watchLater(tenant: TenantKey): Promise<void> {
    if (this.#watchRetries.has(tenant)) return;
    this.#watchRetries.add(tenant);
    await scheduler.wait(watchRetryMs);
    this.#watchRetries.delete(tenant);
    await this.#syncWatch(tenant).catch(() => {
      for (const stream of this.#following(tenant)) stream.close();
    });
  }

  #following(tenant: TenantKey): LiveStream[] {
    return [...this.#streams.keys()].filter(({ tenants }) => tenants.includes(tenant));
  }
}
