import { RequestRefused } from "../../scripts/command.ts";
import { startEmbedded } from "../../scripts/embedded.ts";
import { defaultScope, mintToken } from "../../scripts/mint-token.ts";
import { keptOrScratch } from "../scratch.ts";

/** The registry under measurement. */
export interface Target {
  url: string;
  /** Headers of a caller who holds these tenants. */
  callerOf(tenants: readonly string[], options?: CallerOptions): Promise<Record<string, string>>;
  /** Of the isolate that answers, if it was asked for. */
  inspectorUrl?: string;
  stop(): Promise<void>;
}

export interface CallerOptions {
  admin?: boolean;
  /** Callers with different subjects have different tokens, and rate limits of their own. */
  subject?: string;
}

/** Limits are there to keep one caller from taking all there is; here one caller is to take all there is. */
const unlimited = "1000000/1000000";
export const benchVars = {
  READ_LIMIT: unlimited,
  WRITE_LIMIT: unlimited,
  SEARCH_LIMIT: unlimited,
  NEGOTIATE_LIMIT: unlimited,
  WORK_LIMIT: "1000000/1000000000",
  ANONYMOUS_NEGOTIATE_LIMIT: unlimited,
  // The sources that introspection reads are on this machine.
  ALLOW_LOOPBACK_FETCH: "true",
};

interface TargetOptions {
  vars?: Record<string, string>;
  inspect?: boolean;
}

/** The built Worker as `npm run serve` runs it, on a directory of its own unless one is given to keep. */
export async function startTarget(keep?: string, { vars = {}, inspect }: TargetOptions = {}): Promise<Target> {
  const data = await keptOrScratch(keep, "bench");
  const server = await startEmbedded({
    host: "127.0.0.1",
    port: 0,
    data: data.path,
    vars: { ...benchVars, ...vars },
    inspect,
    quiet: true,
    onStep: console.error,
  });
  return {
    url: server.url,
    inspectorUrl: server.inspectorUrl,
    async callerOf(tenants, { admin = false, subject = "bench" } = {}) {
      const claims = { subject, tenants: [...tenants], scope: defaultScope, admin, lifetime: 86_400 };
      return { Authorization: `Bearer ${await mintToken(server.data.secret.value, server.vars, claims)}` };
    },
    async stop() {
      await server.stop();
      await data.remove();
    },
  };
}

/** Sends a request that prepares a measurement; whatever is refused ends the command. */
export async function prepare<Data = Record<string, unknown>>(
  { url }: Pick<Target, "url">,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<{ headers: Headers; data: Data }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new RequestRefused(response.status, `${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  const answer = JSON.parse(text) as { data?: Data };
  return { headers: response.headers, data: (answer.data ?? answer) as Data };
}
