import { CliError } from "../failure.ts";
import { connectHttp, connectSse } from "./http.ts";
import { clientInfo, isObject, type Json, legacyVersion, modernVersion, type Rpc, RpcRefusal } from "./rpc.ts";
import { startStdio } from "./stdio.ts";

/** Everything that a running MCP server offers. */
export interface ServerReading {
  manifest: Json;
  counts: Record<string, number>;
  warnings: string[];
  protocolVersion: string;
  seconds: number;
}

const lists = [
  { section: "tools", method: "tools/list", capability: "tools", key: "name" },
  { section: "prompts", method: "prompts/list", capability: "prompts", key: "name" },
  { section: "resources", method: "resources/list", capability: "resources", key: "uri" },
  { section: "resourceTemplates", method: "resources/templates/list", capability: "resources", key: "uriTemplate" },
] as const;

const mostPages = 1_000;
const mostItems = 10_000;
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

interface Handshake {
  protocolVersion: string;
  capabilities: Json;
  serverInfo: Json | undefined;
  instructions: string | undefined;
}

async function readWith(rpc: Rpc, where: string, options: ReadOptions, isOld = false): Promise<ServerReading> {
  const started = Date.now();
  try {
    const shook = isOld ? await initialize(rpc, options.timeoutMs) : await handshake(rpc, options.timeoutMs);
    rpc.speak(shook.protocolVersion);
    if (shook.protocolVersion !== modernVersion) await rpc.notify("notifications/initialized");
    const warnings: string[] = [];
    const manifest: Json = { ...headerOf(shook) };
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
  const meta = isObject(result._meta) ? result._meta : {};
  const info = meta["io.modelcontextprotocol/serverInfo"] ?? result.serverInfo;
  return {
    protocolVersion: modernVersion,
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    serverInfo: isObject(info) ? info : undefined,
    instructions: typeof result.instructions === "string" ? result.instructions : undefined,
  };
}

async function initialize(rpc: Rpc, timeoutMs: number): Promise<Handshake> {
  const params = { protocolVersion: legacyVersion, capabilities: {}, clientInfo };
  // `request` reads the revision before its first wait.
  rpc.speak("");
  const result = await rpc.request("initialize", params, timeoutMs);
  const { protocolVersion } = result;
  if (typeof protocolVersion !== "string")
    throw new RpcRefusal(0, "its answer to initialize names no protocol version");
  return {
    protocolVersion,
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    serverInfo: isObject(result.serverInfo) ? result.serverInfo : undefined,
    instructions: typeof result.instructions === "string" ? result.instructions : undefined,
  };
}

/** All pages. A list that cannot be read whole fails: publishing half of a server would remove the other half. */
async function readList(
  rpc: Rpc,
  { section, method, key }: (typeof lists)[number],
  { timeoutMs }: ReadOptions,
  warnings: string[],
): Promise<Json[]> {
  const items = new Map<string, Json>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
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
    const list = result[section];
    if (!Array.isArray(list))
      throw new CliError(`The server's answer to ${method} has no list of ${section}`, { code: "ErrorServerRefused" });
    for (const item of list) {
      const name = isObject(item) ? item[key] : undefined;
      if (!isObject(item) || typeof name !== "string") warnings.push(`${section}: an item without ${key} was left out`);
      else if (items.has(name)) warnings.push(`${section}: ${name} is listed twice; the first is kept`);
      else items.set(name, withLineFeeds(item, 64) as Json);
    }
    if (items.size > mostItems) throw new CliError(`The server lists more than ${mostItems} ${section}`);
    const { nextCursor } = result;
    // Some servers mark the last page with null or an empty string.
    if (typeof nextCursor !== "string" || nextCursor === "") return [...items].sort(byKey).map(([, item]) => item);
    if (seen.has(nextCursor))
      throw new CliError(`The server's ${method} has no end: it repeats a cursor`, { code: "ErrorServerRefused" });
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw new CliError(`The server's ${method} has more than ${mostPages} pages`);
}

/** Some servers list in the order of a hash map, and each reading would otherwise be a change. */
function byKey([a]: [string, Json], [b]: [string, Json]): number {
  return a < b ? -1 : 1;
}

function headerOf({ protocolVersion, serverInfo, instructions }: Handshake): Json {
  const { title, version, description } = serverInfo ?? {};
  const members = { title, version, description, serverInfo, mcpVersion: protocolVersion, instructions };
  return Object.fromEntries(
    Object.entries(withLineFeeds(members, 64) as Json).filter(([, value]) => value !== undefined),
  );
}

/** Descriptions written on Windows: the registry refuses carriage returns, as nobody sees them. */
function withLineFeeds(value: unknown, levels: number, name = ""): unknown {
  if (typeof value === "string")
    return name === "description" || name === "instructions" ? value.replaceAll("\r\n", "\n") : value;
  if (typeof value !== "object" || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withLineFeeds(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withLineFeeds(field, levels - 1, key)]));
}
