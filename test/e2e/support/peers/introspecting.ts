import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import type { Result } from "../../../../src/kernel/result.ts";
import type { SourceBounds, SourceFailure, SourceReading, SourceRequest } from "../../../../src/sources/contract.ts";
import { start } from "../process.ts";
import type { Seen } from "./listening.ts";

export interface Introspecting {
  read(
    source: Partial<SourceRequest> & Pick<SourceRequest, "url">,
    options?: { bounds?: Partial<SourceBounds>; now?: number },
  ): Promise<Result<SourceReading, SourceFailure>>;
  stop(): Promise<void>;
}

/** The Worker's code as it would be deployed, in one module. */
export async function bundleIntrospection(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "introspecting-worker.ts")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    minify: true,
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["browser", "module", "main"],
  });
  return outputFiles[0]?.text ?? "";
}

/** Introspection inside workerd, without nodejs_compat and with the flags of the deployment. */
export async function startIntrospecting(): Promise<Introspecting> {
  const worker = new Miniflare({
    modules: true,
    script: await bundleIntrospection(),
    compatibilityDate: "2026-07-30",
    compatibilityFlags: ["global_fetch_strictly_public"],
  });
  await worker.ready;
  return {
    read: async (source, options = {}) => {
      const request: SourceRequest = { id: "main", type: "streamable-http", headers: {}, ...source };
      const response = await worker.dispatchFetch("http://worker/", {
        method: "POST",
        body: JSON.stringify({ source: request, ...options }),
      });
      if (response.status !== 200) throw new Error(await response.text());
      return (await response.json()) as Result<SourceReading, SourceFailure>;
    },
    stop: () => worker.dispose(),
  };
}

export interface Peer {
  url: string;
  /** What it saw since the last time it was asked. */
  seen(): Promise<Seen>;
}

/** Starts one of the peers beside this file. */
export async function startPeer(script: string, ...args: string[]): Promise<Peer> {
  const peer = start(process.execPath, [join(import.meta.dirname, script), ...args]);
  const [, url = ""] = await peer.line(/ready (http:\/\/127\.0\.0\.1:\d+)/);
  return { url, seen: async () => (await (await fetch(`${url}/seen`)).json()) as Seen };
}
