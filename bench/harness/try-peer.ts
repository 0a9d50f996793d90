import { CommandError } from "../../scripts/command.ts";
import { reasonOf, receive } from "./load.ts";
import type { Peer } from "./peer.ts";

/** Of one answer. */
const mostMs = 30_000;

/**
 * Asks each of the three questions once, so that what cannot be compared is known before anything is measured. `{field}`
 * in a path becomes that field of the first server listed, and `{word}` a word of its name that the search finds.
 */
export async function tryPeer(peer: Peer): Promise<Peer> {
  const { name, paths } = peer;
  const listed = itemsIn(await askJson(peer, paths.list)) ?? [];
  if (listed.length === 0) throw new CommandError(`${name}: GET ${paths.list} lists no server.`);
  const first = fieldsOf(listed[0]);
  const get = filled(peer, paths.get, first);
  await ask(peer, get);
  const search = paths.search === undefined ? undefined : await fruitfulSearch(peer, paths.search, first);
  return { ...peer, paths: { ...paths, get, search } };
}

type Fields = Record<string, unknown>;

/** Of a server as listed, or of what the official registry puts around it. */
function fieldsOf(item: unknown): Fields {
  const fields = isObject(item) ? item : {};
  return isObject(fields["server"]) ? fields["server"] : fields;
}

function filled({ name }: Peer, path: string, first: Fields): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = first[field];
    if (typeof value === "string" || typeof value === "number") return encodeURIComponent(value);
    throw new CommandError(`${name}: the first server it lists has no "${field}" for ${path}.`);
  });
}

async function fruitfulSearch(peer: Peer, search: string, first: Fields): Promise<string> {
  const words = search.includes("{word}") ? wordsOf(String(first["name"] ?? "")) : [""];
  for (const word of words) {
    const path = filled(peer, search, { ...first, word });
    // Where the answer has no list, whether it found anything cannot be told.
    if (itemsIn(await askJson(peer, path))?.length !== 0) return path;
  }
  throw new CommandError(
    search.includes("{word}")
      ? `${peer.name}: GET ${search} finds nothing for any word of ${JSON.stringify(first["name"] ?? "")}, which it lists first.`
      : `${peer.name}: GET ${search} finds nothing.`,
  );
}

/** What a server is called by itself before whose it is, and long words before short ones. */
function wordsOf(name: string): string[] {
  const [own = "", ...owner] = name.split("/").reverse();
  return [own, ...owner].flatMap((part) =>
    part
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 2)
      .sort((a, b) => b.length - a.length),
  );
}

const deepest = 2;

/** The nearest array of an answer that has something in it; an empty one where all are, undefined where there is none. */
function itemsIn(answer: unknown): unknown[] | undefined {
  let level = [answer];
  let empty: unknown[] | undefined;
  for (let depth = 0; depth <= deepest; depth += 1) {
    const arrays = level.filter((value) => Array.isArray(value));
    const full = arrays.find(({ length }) => length > 0);
    if (full !== undefined) return full;
    empty ??= arrays[0];
    level = level.filter(isObject).flatMap((value) => Object.values(value));
  }
  return empty;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function askJson(peer: Peer, path: string): Promise<unknown> {
  const text = await ask(peer, path);
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${peer.name}: GET ${path} answered what is not JSON: ${text.slice(0, 200)}`);
  }
}

async function ask({ name, origin, headers }: Peer, path: string): Promise<string> {
  const signal = AbortSignal.timeout(mostMs);
  const answer = await receive(origin, { method: "GET", path, headers }, signal).catch((cause) => {
    throw new CommandError(`${name}: GET ${origin}${path} failed: ${reasonOf(cause)}`);
  });
  const text = answer.body.toString("utf8");
  if (answer.status === 200) return text;
  throw new CommandError(`${name}: GET ${origin}${path} answered ${answer.status}: ${text.slice(0, 200)}`);
}
