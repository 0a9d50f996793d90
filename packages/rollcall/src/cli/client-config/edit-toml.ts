import { isDeepStrictEqual } from "node:util";
import { parse, TomlError } from "smol-toml";
import { isObject, type Json } from "../../publisher/manifest.ts";
import type { Edit, Edited } from "./edit-json.ts";

/** Changes one table of a TOML file; comments and everything else stay. `snippet` is the new table. */
export function editToml(original: string, edit: Edit, snippet: string): Edited {
  const hasMark = original.startsWith("\uFEFF");
  const text = hasMark ? original.slice(1) : original;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  let before: Json;
  try {
    before = parse(text) as Json;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    return { ok: false, message: `it is not TOML: ${reason}`, line: error.line };
  }
  const { member, name, entry } = edit;
  const servers = isObject(before[member]) ? before[member] : {};
  const known = isObject(servers[name]) ? servers[name] : undefined;
  if (entry === undefined && known === undefined) return { ok: true, text: original, before: undefined };
  if (isDeepStrictEqual(plain(known), plain(entry))) return { ok: true, text: original, before: known };

  const table = snippet.replaceAll("\n", eol);
  const kept = withoutTable(text.split(eol), member, name);
  let next: string;
  if (entry === undefined) next = kept.lines.join(eol);
  else if (kept.at !== undefined)
    next = [...kept.lines.slice(0, kept.at), ...table.split(eol), ...kept.lines.slice(kept.at)].join(eol);
  else next = `${text}${text === "" || text.endsWith(eol) ? "" : eol}${text.trim() === "" ? "" : eol}${table}${eol}`;
  const byHand: Edited = {
    ok: false,
    message: `its servers are written in a form that only you can change: write [${member}.${name}] by hand`,
  };
  try {
    const { [name]: _old, ...others } = servers;
    const expected = { ...before, [member]: entry === undefined ? others : { ...others, [name]: entry } };
    const after = parse(next) as Json;
    if (!isDeepStrictEqual(plain({ [member]: {}, ...after }), plain(expected))) return byHand;
  } catch {
    return byHand;
  }
  return { ok: true, text: (hasMark ? "\uFEFF" : "") + next, before: known };
}

const plain = (value: unknown) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** The lines without the server's tables, and where the first of them was. */
function withoutTable(lines: readonly string[], member: string, name: string): { lines: string[]; at?: number } {
  const header = /^\s*\[+\s*([^\]]*?)\s*\]+/;
  const isOurs = (line: string) => {
    const key = header.exec(line)?.[1]?.replaceAll(/["']|\s/g, "");
    return key === `${member}.${name}` || key?.startsWith(`${member}.${name}.`) === true;
  };
  const kept: string[] = [];
  // Blank lines and comments after the last setting belong to what follows.
  let rest: string[] = [];
  let at: number | undefined;
  let isInside = false;
  for (const line of lines) {
    if (header.test(line)) {
      if (isInside && !isOurs(line)) kept.push(...rest);
      isInside = isOurs(line);
      rest = [];
      if (isInside) at ??= kept.length;
    }
    if (!isInside) kept.push(line);
    else if (/^\s*(?:#.*)?$/.test(line)) rest.push(line);
    else rest = [];
  }
  if (isInside) kept.push(...rest);
  return { lines: kept, at };
}
