import type { Failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { countedStub } from "../kernel/platform/counted-bindings.ts";
import { createUsage } from "../kernel/platform/usage.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { askForClient, type ChangeFeed, type StreamRequest, type Streams, streamRequestHeader } from "./contract.ts";
import { LiveStream } from "./live-stream.ts";

/**
 * The platform allows one request 1,000 calls to objects. A stream ends before, and its client goes on with another
 * request.
 */
const maxCalls = 900;

export interface NewStream<T extends object> {
  streams: Streams;
  tenant(key: TenantKey): T;
  /** The feed reads through this function, so that its calls are counted. */
  feed(tenantOf: (key: TenantKey) => T): ChangeFeed;
  lifetimeMs: number;
  maxStreams: number;
  /** Session that the stream belongs to; when it ends, the stream is closed. */
  session?: string;
  /** Aborts when the client leaves, if the runtime notices. */
  signal: AbortSignal;
}

/**
 * Opens a stream for the client of this request. The caller's stream object tells over a WebSocket that a tenant has
 * written, and the Worker fetches what. The socket is watched before anything is read: a change made in between is
 * either read or told of.
 */
export async function openStream<T extends object>(request: NewStream<T>): Promise<Result<ReadableStream, Failure>> {
  const { streams, lifetimeMs, maxStreams, session, signal } = request;
  const calls = createUsage();
  const followed = request.feed((key) => countedStub(request.tenant(key), calls));
  await followed.snapshot?.();
  const { tenants, position } = followed;
  const opened = await connect(streams, { tenants, position, session, lifetimeMs, maxStreams });
  if (!opened.ok) return opened;
  const socket = opened.value;
  const live = new LiveStream(followed, {
    lifetimeMs,
    mayRead: () => calls.objectCalls < maxCalls,
    onClosed: () => socket.close(1000),
  });
  signal.addEventListener("abort", () => live.release());
  socket.addEventListener("message", ({ data }) => {
    if (data === askForClient) void live.checkClient();
    else void live.catchUp(data as TenantKey);
  });
  // Also when the object's process ends: the client reconnects, and finds the object where it is then.
  socket.addEventListener("close", () => live.close());
  socket.addEventListener("error", () => live.close());
  socket.accept();
  for (const tenant of tenants) void live.catchUp(tenant);
  return ok(live.readable);
}

async function connect(streams: Streams, request: StreamRequest): Promise<Result<WebSocket, Failure>> {
  const headers = { Upgrade: "websocket", [streamRequestHeader]: JSON.stringify(request) };
  const response = await streams.fetch(new Request("https://streams.invalid/", { headers }));
  if (response.webSocket) return ok(response.webSocket);
  return err(readJson(await response.text()) as Failure);
}
