import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CommandError, UsageError } from "../../scripts/command.ts";
import { ownName, type Peer } from "./peer.ts";

/** What speaks the API of the official registry is asked in it. */
export const officialPaths = {
  list: "/v0.1/servers?limit=30",
  get: "/v0.1/servers/{name}/versions/latest",
  search: "/v0.1/servers?search={word}&limit=5",
};

const Path = z.string().startsWith("/");
const PeerFile = z.strictObject({
  url: z.string(),
  list: Path,
  get: Path,
  search: Path.optional(),
  headers: z.record(z.string(), z.string()).default({}),
});

/** Reads every `NAME=URL`, and every `NAME=FILE` of a peer that has its own paths. */
export async function readPeers(texts: readonly string[]): Promise<Peer[]> {
  const named = texts.map(readName);
  for (const [index, { name }] of named.entries()) {
    if (name === ownName) throw new UsageError(`--peer ${name}: that is what this registry is called here.`);
    if (named.findIndex((other) => other.name === name) !== index)
      throw new UsageError(`--peer ${name} is given twice.`);
  }
  return Promise.all(named.map(({ name, where }) => readPeer(name, where)));
}

function readName(text: string): { name: string; where: string } {
  const [, name, where] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || where === undefined)
    throw new UsageError(`--peer takes NAME=URL or NAME=FILE, not ${text}.`);
  return { name, where };
}

async function readPeer(name: string, where: string): Promise<Peer> {
  if (/^https?:\/\//.test(where)) return { name, origin: originOf(name, where), paths: officialPaths, headers: {} };
  const text = await readFile(where, "utf8").catch(() => {
    throw new CommandError(`--peer ${name}: ${where} is neither a URL nor a file that can be read.`);
  });
  const parsed = PeerFile.safeParse(jsonOf(name, where, text));
  if (!parsed.success) throw new CommandError(`--peer ${name}: ${where}: ${z.prettifyError(parsed.error)}`);
  const { url, headers, ...paths } = parsed.data;
  return { name, origin: originOf(name, url), paths, headers };
}

function jsonOf(name: string, where: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`--peer ${name}: ${where} is not JSON.`);
  }
}

function originOf(name: string, url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new UsageError(`--peer ${name}: ${url} is not an http URL.`);
  if (parsed.href === `${parsed.origin}/`) return parsed.origin;
  throw new UsageError(
    `--peer ${name}: ${url} is more than a host and a port. Paths and headers belong into a file (see docs/explanation/performance/peers.md).`,
  );
}
