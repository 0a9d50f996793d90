import { createHmac } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import {
  CoreHeaders,
  Miniflare,
  MiniflareCoreError,
  type MiniflareOptions,
  NoOpLog,
  type WorkerOptions,
} from "miniflare";
import { CommandError } from "./command.ts";
import type { DataDir } from "./data-dir.ts";
import { PortInUse } from "./port.ts";
import { guardRuntime } from "./runtime-guard.ts";
import { withoutNativeTraces, withoutSubject } from "./runtime-log.ts";
import type { WorkerConfig } from "./worker-config.ts";

interface RuntimeOptions {
  host: string;
  port: number;
  quiet: boolean;
  quietSubject: string | undefined;
  /** Where the Worker is: one ES module, with the WebAssembly that it imports beside it. */
  bundle: string;
  config: WorkerConfig;
  data: DataDir;
  vars: Record<string, string>;
  /** Opens an inspector of the Worker's isolate, on loopback. */
  inspect?: boolean;
}

export interface Runtime {
  url: string;
  inspectorUrl: string | undefined;
  stop(): Promise<void>;
}

/**
 * How much garbage each isolate of the runtime may gather before it is taken out. There are eight, most of them the
 * simulation of KV and cache. V8 goes by the memory of the machine: where there is plenty, old objects are collected once
 * there are up to four times as many as were left the last time, and the heap stays that large. An isolate that
 * is deployed has 128 MB.
 * - Megabytes of young objects: what hangs on their garbage is larger than it. With the default of sixteen the runtime held
 *   half as much again, and was no faster.
 * - Old objects are collected sooner, and pages with few of them are given back.
 * - Megabytes of old objects before the first collection. The small isolates of the simulation would otherwise not have one
 *   for many minutes.
 */
const v8Flags = "--max-semi-space-size=2 --memory-saver-mode --initial-old-space-size=4";

/** Runs the bundle in workerd, on Miniflare's simulation of KV and Durable Objects. Resolves once it answers. */
export async function startRuntime({
  host,
  port,
  quiet,
  quietSubject,
  bundle,
  config,
  data,
  vars,
  inspect = false,
}: RuntimeOptions): Promise<Runtime> {
  const releaseGuard = guardRuntime();
  keepPeerAddresses();
  // The only way Miniflare has of being told.
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= v8Flags;
  const started = Promise.withResolvers<void>();
  const temporary = await mkdtemp(join(tmpdir(), "rollcall-runtime-"));
  const modules = [{ type: "ESModule" as const, path: bundle }, ...(await compiledModules(bundle))];
  const settings: MiniflareOptions = {
    // Miniflare's own entry, which we do not use, stays on a random loopback port.
    host: "127.0.0.1",
    port: 0,
    inspectorHost: "127.0.0.1",
    inspectorPort: inspect ? 0 : undefined,
    // Nothing is fetched from outside to decorate requests, and nothing is logged but what the Worker logs.
    cf: false,
    logRequests: false,
    log: new NoOpLog(),
    // Held back until it runs: if it does not start, Miniflare's error says why, and says it once.
    handleRuntimeStdio(log: Readable, problems: Readable) {
      void started.promise.then(() => {
        problems.pipe(withoutNativeTraces()).pipe(process.stderr, { end: false });
        if (quiet) log.resume();
        else if (quietSubject === undefined) log.pipe(process.stderr, { end: false });
        else log.pipe(withoutSubject(quietSubject)).pipe(process.stderr, { end: false });
      });
    },
    kvPersist: data.kv,
    durableObjectsPersist: data.objects,
    cachePersist: false,
    workers: [
      {
        ...config.bindings,
        durableObjects: signedSessions(config.bindings, data.secret.value),
        name: config.name,
        modules,
        bindings: { ...vars, JWT_SECRET: data.secret.value },
        // Straight to the Worker: Miniflare's entry in front of it would cost two thirds of the speed.
        unsafeDirectSockets: [{ host, port }],
      },
    ],
  };
  const runtime = withTemporary(temporary, () => new Miniflare(settings));
  const stop = async () => {
    try {
      await runtime.dispose();
    } finally {
      releaseGuard();
      await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
    }
  };
  try {
    await runtime.ready;
    started.resolve();
    const { origin } = await runtime.unsafeGetDirectURL(config.name);
    await requireHealthy(origin);
    const inspectorUrl = inspect
      ? new URL(`/core:user:${config.name}`, await runtime.getInspectorURL()).href
      : undefined;
    return { url: origin, inspectorUrl, stop };
  } catch (error) {
    // Disposing of what never started throws the reason once more.
    await stop().catch(() => {});
    // Somebody took the port between our look and the runtime's.
    if (error instanceof MiniflareCoreError && error.code === "ERR_ADDRESS_IN_USE") throw new PortInUse(host, port);
    if (error instanceof MiniflareCoreError) throw new CommandError(error.message);
    throw error;
  }
}

/**
 * Miniflare has its runtime read `request.cf` from a header, which anybody can send to a direct socket. Without a name for that
 * header the runtime writes the other end of the connection there, which is what callers without a token are told apart by.
 */
function keepPeerAddresses(): void {
  delete (CoreHeaders as { CF_BLOB?: string }).CF_BLOB;
}

/**
 * Miniflare makes a directory among the system's temporary ones, and does not wait until it has removed it: a process
 * that ends at once leaves it behind. So it is made in one of ours.
 */
function withTemporary<T>(path: string, work: () => T): T {
  const { TMPDIR: before } = process.env;
  process.env["TMPDIR"] = path;
  try {
    return work();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

/** The WebAssembly that a bundle imports, beside it. Files of earlier builds are left alone. */
export async function compiledModules(bundle: string): Promise<{ type: "CompiledWasm"; path: string }[]> {
  const text = await readFile(bundle, "utf8");
  const files = (await readdir(dirname(bundle))).filter((name) => name.endsWith(".wasm") && text.includes(name));
  return files.map((name) => ({ type: "CompiledWasm", path: join(dirname(bundle), name) }));
}

/**
 * The simulator signs ids with the name of their class, which everyone knows; on Cloudflare the key is the platform's.
 * Session ids must not be made up, so theirs is derived from the secret of the data directory.
 */
function signedSessions({ durableObjects }: WorkerConfig["bindings"], secret: string): WorkerOptions["durableObjects"] {
  const unsafeUniqueKey = createHmac("sha256", secret).update("session ids").digest("hex");
  return Object.fromEntries(
    Object.entries(durableObjects ?? {}).map(([name, binding]) => [
      name,
      name === "SESSIONS" && typeof binding === "object" ? { ...binding, unsafeUniqueKey } : binding,
    ]),
  ) as WorkerOptions["durableObjects"];
}

/** The socket is open by now; this proves that the Worker behind it starts and answers. */
async function requireHealthy(url: string): Promise<void> {
  const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(30_000) });
  if (response.ok) return;
  const body = await response.text();
  // A setting that cannot be read: the message names it, and that is all there is to say.
  const { error } = parsed(body) as { error?: { message?: unknown } };
  if (typeof error?.message === "string") throw new CommandError(`${error.message}.`.replace(/\.\.$/, "."));
  throw new CommandError(`The Worker does not answer: GET /healthz is ${response.status}.\n${body.slice(0, 1000)}`);
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
