import { DurableObject } from "cloudflare:workers";
import { askForClient, type StreamAttachment, type StreamRequest, streamRequestHeader } from "../changes/contract.ts";
import { failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { objectUsage } from "../kernel/platform/usage.ts";
import { readJson } from "../kernel/read-json.ts";
import type { StreamRpc } from "./contract.ts";
import { tenantOf } from "./stubs.ts";

/** A watch expires this long after its last stream, in case the tenant never receives the `unwatch`. */
const watchSlackMs = 60_000;

/**
 * A doorbell for the live streams of one caller: tenants notify this object of writes while it watches them, and it
 * passes the tenant's name to the Workers that hold the streams. It hibernates in between. So it has no timers, and
 * nothing in memory but calls under way: what a stream follows and when it ends are attached to its WebSocket.
 */
export class StreamObject extends DurableObject<Env> implements StreamRpc {
  readonly #pendingWatches = new Map<string, Promise<void>>();

  override async fetch(request: Request): Promise<Response> {
    const { maxStreams, lifetimeMs, ...follows } = readJson(
      request.headers.get(streamRequestHeader) ?? "",
    ) as StreamRequest;
    const open = this.#sockets();
    if (open.length >= maxStreams) {
      // Some of them may have lost their clients since the last heartbeat.
      for (const socket of open) socket.send(askForClient);
      const message = `You have ${open.length} streams open already; close one first`;
      return Response.json(failure("ErrorTooManyRequests", message, { retryAfterSeconds: 5 }));
    }
    const { 0: theirs, 1: own } = new WebSocketPair();
    this.ctx.acceptWebSocket(own);
    const attachment: StreamAttachment = { ...follows, endsAt: Date.now() + lifetimeMs };
    own.serializeAttachment(attachment);
    try {
      await Promise.all([...follows.tenants.map((tenant) => this.#syncWatch(tenant)), this.#endAt(attachment.endsAt)]);
    } catch (cause) {
      own.close(1011, "A tenant cannot be watched");
      throw cause;
    }
    return new Response(null, { status: 101, webSocket: theirs });
  }

  async notify(tenant: TenantKey): Promise<void> {
    const sockets = this.#following(tenant);
    if (sockets.length === 0) return this.#syncWatch(tenant);
    for (const socket of sockets) socket.send(tenant);
  }

  async endSession(session: string): Promise<void> {
    const ended = this.#sockets().filter((socket) => attachmentOf(socket).session === session);
    await this.#close(ended, "The session has ended");
  }

  async count(): Promise<number> {
    return this.#sockets().length;
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    await this.#close([socket], "");
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#close([socket], "");
  }

  /** Ends the streams whose time is up. The Workers do too; this is for those that are late or gone. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const over = this.#sockets().filter((socket) => attachmentOf(socket).endsAt <= now);
    await this.#close(over, "The stream's time is up");
  }

  /** Closes sockets, stops watching tenants that no other stream follows, and sets the alarm for those that are left. */
  async #close(sockets: readonly WebSocket[], reason: string): Promise<void> {
    const tenants = new Set(sockets.flatMap((socket) => attachmentOf(socket).tenants));
    for (const socket of sockets) socket.close(1000, reason);
    const ends = this.#sockets().map((socket) => attachmentOf(socket).endsAt);
    const alarm = ends.length === 0 ? this.ctx.storage.deleteAlarm() : this.ctx.storage.setAlarm(Math.min(...ends));
    await Promise.all([alarm, ...[...tenants].map((tenant) => this.#syncWatch(tenant))]);
  }

  async #endAt(time: number): Promise<void> {
    const present = await this.ctx.storage.getAlarm();
    if (present === null || present > time) await this.ctx.storage.setAlarm(time);
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
    const sockets = this.#following(tenant);
    const id = this.ctx.id.toString();
    if (sockets.length === 0) return tenantOf(this.env, tenant, objectUsage).unwatch(id);
    const until = Math.max(...sockets.map((socket) => attachmentOf(socket).endsAt)) + watchSlackMs;
    await tenantOf(this.env, tenant, objectUsage).watch(id, until);
  }

  #following(tenant: TenantKey): WebSocket[] {
    return this.#sockets().filter((socket) => attachmentOf(socket).tenants.includes(tenant));
  }

  /** Without those that are closing. */
  #sockets(): WebSocket[] {
    return this.ctx.getWebSockets().filter(({ readyState }) => readyState === WebSocket.OPEN);
  }
}

function attachmentOf(socket: WebSocket): StreamAttachment {
  return socket.deserializeAttachment() as StreamAttachment;
}
