import {
  headerOf,
  type Introduction,
  Items,
  introductionIn,
  type List,
  lists,
  mostItems,
  mostPages,
} from "../../publisher/manifest.ts";
import { CliError } from "../failure.ts";
import { connectHttp, connectSse } from "./http.ts";
import { clientInfo, type Json, legacyVersion, modernVersion, type Rpc, RpcRefusal } from "./rpc.ts";
import { startStdio } from "./stdio.ts";

/** Everything that a running MCP server offers. */
export interface ServerReading {
  manifest: Json;
  counts: Record<string, number>;
  warnings: string[];
  protocolVersion: string;
  seconds: number;
}

const methodNotFound = -32601;
/** Errors that only a server of 2026-07-28 sends. */
const modernErrors = [-32020, -32021, -32022];

export interface ReadOptions {
  timeoutMs: number;
  signal: AbortSignal;
  say?: (text: string) => void;
}

export async function readCommand(command: readonly string[], options: ReadOptions): Promise<ServerReading> {
  const rpc = startStdio(command, options.signal);
  return readWith(rpc, command.join(" "), options);
}

export async function readUrl(url: string, options: ReadOptions): Promise<ServerReading> {
  const http = connectHttp(url, options.signal);
  try {
    return await readWith(http, url, options);
  } catch (error) {
    // Servers of 2024 know no POST at this address.
    const isOld = error instanceof RpcRefusal && [400, 404, 405].includes(error.httpStatus ?? 0);
    if (!isOld) throw asCliError(error, url);
  }
  return readWith(await connectSse(url, options.signal, options.timeoutMs), url, options, true).catch((error) => {
    throw asCliError(error, url);
  });
}

function asCliError(error: unknown, where: string): unknown {
  if (!(error instanceof RpcRefusal)) return error;
  return new CliError(`The MCP server refused to be read: ${error.message}`, { where, code: "ErrorServerRefused" });
}

interface Handshake extends Introduction {
  protocolVersion: string;
}

async function readWith(rpc: Rpc, where: string, options: ReadOptions, isOld = false): Promise<ServerReading> {
  const started = Date.now();
  try {
    const shook = isOld ? await initialize(rpc, options.timeoutMs) : await handshake(rpc, options.timeoutMs);
    rpc.speak(shook.protocolVersion);
    if (shook.protocolVersion !== modernVersion) await rpc.notify("notifications/initialized");
    const warnings: string[] = [];
    const manifest = headerOf(shook, { mcpVersion: shook.protocolVersion });
    const counts: Record<string, number> = {};
    for (const list of lists) {
      const items =
        shook.capabilities[list.capability] === undefined ? [] : await readList(rpc, list, options, warnings);
      manifest[list.section] = items;
      counts[list.section] = items.length;
      options.say?.(`Reading ${where}: ${items.length} ${list.section}`);
    }
    if (rpc.junk.length > 0) {
      warnings.push(
        `The command wrote ${rpc.junk.length} lines to stdout that are not MCP; clients may refuse it. The first: ${rpc.junk[0]}`,
      );
    }
    return {
      manifest,
      counts,
      warnings,
      protocolVersion: shook.protocolVersion,
      seconds: (Date.now() - started) / 1_000,
    };
  } catch (error) {
    throw error instanceof RpcRefusal && error.httpStatus === undefined ? asCliError(error, where) : error;
  } finally {
    await rpc.close();
  }
}

/** The newest revision first; a server that does not know it is asked as those of 2025 are. */
async function handshake(rpc: Rpc, timeoutMs: number): Promise<Handshake> {
  rpc.speak(modernVersion);
  const discovery = rpc.request("server/discover", {}, timeoutMs);
  // Some older servers leave an unknown request before `initialize` without an answer.
  const patience = Math.min(5_000, timeoutMs / 2);
  let timer: NodeJS.Timeout | undefined;
  const hedge = new Promise<"silent">((resolve) => {
    timer = setTimeout(resolve, patience, "silent");
  });
  discovery.catch(() => {});
  try {
    const first = await Promise.race([discovery, hedge]);
    if (first === "silent")
      return await Promise.any([discovery.then(discovered), initialize(rpc, timeoutMs)]).catch(lastOf);
    return discovered(first);
  } catch (error) {
    if (!(error instanceof RpcRefusal) || modernErrors.includes(error.rpcCode)) throw error;
    return initialize(rpc, timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

/** Of several failures, the one of `initialize`. */
function lastOf(error: unknown): never {
  throw error instanceof AggregateError ? error.errors.at(-1) : error;
}

function discovered(result: Json): Handshake {
  return { protocolVersion: modernVersion, ...introductionIn(result) };
}

async function initialize(rpc: Rpc, timeoutMs: number): Promise<Handshake> {
  const params = { protocolVersion: legacyVersion, capabilities: {}, clientInfo };
  // `request` reads the revision before its first wait.
  rpc.speak("");
  const result = await rpc.request("initialize", params, timeoutMs);
  const { protocolVersion } = result;
  if (typeof protocolVersion !== "string")
    throw new RpcRefusal(0, "its answer to initialize names no protocol version");
  return { protocolVersion, ...introductionIn(result) };
}

/** All pages. A list that cannot be read whole fails: publishing half of a server would remove the other half. */
async function readList(rpc: Rpc, list: List, { timeoutMs }: ReadOptions, warnings: string[]): Promise<Json[]> {
  const { section, method } = list;
  const items = new Items(list);
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let count = 1; count <= mostPages; count += 1) {
    let result: Json;
    try {
      result = await rpc.request(method, cursor === undefined ? {} : { cursor }, timeoutMs);
    } catch (error) {
      // No capability announces templates alone.
      if (section === "resourceTemplates" && error instanceof RpcRefusal && error.rpcCode === methodNotFound) return [];
      if (error instanceof RpcRefusal)
        throw new CliError(`The server refused ${method}: ${error.message}`, { code: "ErrorServerRefused" });
      throw error;
    }
    const page = result[section];
    if (!Array.isArray(page))
      throw new CliError(`The server's answer to ${method} has no list of ${section}`, { code: "ErrorServerRefused" });
    for (const item of page) {
      const problem = items.add(item);
      if (problem !== undefined) warnings.push(problem);
    }
    if (items.size > mostItems) throw new CliError(`The server lists more than ${mostItems} ${section}`);
    const { nextCursor } = result;
    // Some servers mark the last page with null or an empty string.
    if (typeof nextCursor !== "string" || nextCursor === "") return items.sorted();
    if (seen.has(nextCursor))
      throw new CliError(`The server's ${method} has no end: it repeats a cursor`, { code: "ErrorServerRefused" });
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw new CliError(`The server's ${method} has more than ${mostPages} pages`);
}
