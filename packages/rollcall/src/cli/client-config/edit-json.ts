import { isDeepStrictEqual } from "node:util";
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isObject, type Json } from "../../publisher/manifest.ts";

/** What is to stand in a client's file: the entry of a server, or undefined to remove it. */
export interface Edit {
  member: string;
  name: string;
  entry: Json | undefined;
  /** VS Code: what it asks for, beside the servers. */
  prompts?: Json[];
}

export type Edited =
  | { ok: true; text: string; before: Json | undefined }
  | { ok: false; message: string; line?: number };

const byteOrderMark = "\uFEFF";

/** Changes one entry of a JSON file with comments; everything else stays as it is, to the byte. */
export function editJson(original: string, edit: Edit): Edited {
  const hasMark = original.startsWith(byteOrderMark);
  const body = hasMark ? original.slice(1) : original;
  const text = body.trim() === "" ? "{}" : body;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined)
    return {
      ok: false,
      message: `it is not JSON: ${words(printParseErrorCode(first.error))}`,
      line: lineOf(text, first.offset),
    };
  if (tree?.type !== "object") return { ok: false, message: "it is not an object", line: 1 };
  const problem = shapeProblem(text, tree, edit);
  if (problem !== undefined) return problem;

  const { member, name, entry } = edit;
  const before = parse(text, [], { allowTrailingComma: true }) as Json;
  const servers = isObject(before[member]) ? before[member] : {};
  const known = isObject(servers[name]) ? servers[name] : undefined;
  if (entry === undefined && known === undefined) return { ok: true, text: original, before: undefined };
  let next = isDeepStrictEqual(known, entry) ? text : changeServer(text, tree, edit);
  next = editPrompts(next, edit);
  if (!next.endsWith("\n") && body.trim() === "") next += eolOf(text);
  const expected = { ...before, [member]: { ...servers, [name]: entry } };
  const after = parse(next, [], { allowTrailingComma: true }) as Json;
  if (!sameBut(after, expected)) return { ok: false, message: "it cannot be changed safely: change it by hand" };
  return { ok: true, text: (hasMark ? byteOrderMark : "") + next, before: known };
}

/** Where the servers should be is something else, or a name stands there twice: parsers disagree on which one counts. */
function shapeProblem(text: string, tree: Node, { member, name }: Edit): Edited | undefined {
  for (const [path, key] of [
    [[], member],
    [[], "inputs"],
    [[member], name],
  ] as [JSONPath, string][]) {
    const node = findNodeAtLocation(tree, path);
    const same = (node?.children ?? []).filter((child) => child.children?.[0]?.value === key);
    const second = same[1];
    if (second !== undefined)
      return { ok: false, message: `"${key}" stands there twice`, line: lineOf(text, second.offset) };
  }
  for (const [path, type] of [
    [[member], "object"],
    [["inputs"], "array"],
  ] as [JSONPath, string][]) {
    const node = findNodeAtLocation(tree, path);
    if (node !== undefined && node.type !== type)
      return {
        ok: false,
        message: `"${path[0]}" is not ${type === "array" ? "a list" : "an object"}`,
        line: lineOf(text, node.offset),
      };
  }
  return undefined;
}

/** A new server comes first, and a server goes with its own lines: comments stay with what they are about. */
function changeServer(text: string, tree: Node, { member, name, entry }: Edit): string {
  const servers = findNodeAtLocation(tree, [member]);
  const at = (servers?.children ?? []).findIndex((child) => child.children?.[0]?.value === name);
  const whole = () => change(text, [member, name], entry);
  if (servers?.children === undefined || servers.children.length === 0) return whole();
  const eol = eolOf(text);
  if (at === -1) {
    const start = servers.offset + 1;
    const [line = ""] = text.slice(start).split(/\r?\n/, 1);
    const next = start + line.length + (text.startsWith("\r\n", start + line.length) ? 2 : 1);
    const indent = /^[ \t]*/.exec(text.slice(next))?.[0] ?? "";
    if (!/^[ \t]*(?:\/\/.*|\/\*(?:(?!\*\/).)*\*\/[ \t]*)?$/.test(line) || next >= (servers.children[0]?.offset ?? 0))
      return whole();
    const value = JSON.stringify(entry, null, indentOf(text)).replaceAll("\n", `${eol}${indent}`);
    return `${text.slice(0, next)}${indent}${JSON.stringify(name)}: ${value},${eol}${text.slice(next)}`;
  }
  const own = servers.children[at];
  if (own === undefined) return whole();
  return entry === undefined
    ? (removed(text, servers, at) ?? whole())
    : changeMembers(text, [member, name], own, entry);
}

/** Only members that differ are written: comments inside the entry stay with what they are about. */
function changeMembers(text: string, path: JSONPath, own: Node, entry: Json): string {
  const value = own.children?.[1];
  if (value?.type !== "object") return change(text, path, entry);
  const before = parse(text.slice(value.offset, value.offset + value.length), [], { allowTrailingComma: true }) as Json;
  let next = text;
  for (const [name, member] of Object.entries(entry))
    if (!isDeepStrictEqual(before[name], member)) next = change(next, [...path, name], member);
  for (const name of Object.keys(before)) {
    if (name in entry) continue;
    const tree = parseTree(next, [], { allowTrailingComma: true });
    const members = tree && findNodeAtLocation(tree, path);
    const at = members?.children?.findIndex((child) => child.children?.[0]?.value === name) ?? -1;
    next = (members && removed(next, members, at)) ?? change(next, [...path, name], undefined);
  }
  return next;
}

/** Takes an entry out with its own lines; undefined if it shares a line with something else. */
function removed(text: string, servers: Node, at: number): string | undefined {
  const [before, own, after] = [at - 1, at, at + 1].map((index) => servers.children?.[index]);
  if (own === undefined) return undefined;
  const start = text.lastIndexOf("\n", own.offset) + 1;
  const rest = /^[ \t]*,?[ \t]*\r?\n/.exec(text.slice(own.offset + own.length));
  if (rest === null || !/^[ \t]*$/.test(text.slice(start, own.offset))) return undefined;
  const behind = text.slice(own.offset + own.length + rest[0].length);
  const ahead = text.slice(0, start);
  // The last entry takes the comma of the one before it along; what stands between them stays.
  if (after !== undefined || before === undefined || rest[0].includes(",")) return ahead + behind;
  const comma = commaAfter(text, before.offset + before.length);
  return comma === undefined ? undefined : ahead.slice(0, comma) + ahead.slice(comma + 1) + behind;
}

/** Where the next comma is that stands in no comment. */
function commaAfter(text: string, from: number): number | undefined {
  const skipped = /^(?:\s|\/\/[^\n]*|\/\*(?:(?!\*\/)[\s\S])*\*\/)*/.exec(text.slice(from))?.[0] ?? "";
  const at = from + skipped.length;
  return text[at] === "," ? at : undefined;
}

function indentOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

function change(text: string, path: JSONPath, value: unknown, isArrayInsertion = false): string {
  const indent = indentOf(text);
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: eolOf(text),
  };
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion }));
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Prompts are known by their id; those of a removed server go, if no other server uses them. */
function editPrompts(text: string, { name, entry, prompts = [] }: Edit): string {
  let next = text;
  const inputsOf = () => {
    const { inputs } = parse(next, [], { allowTrailingComma: true }) as { inputs?: Json[] };
    return Array.isArray(inputs) ? inputs : [];
  };
  for (const prompt of prompts) {
    const inputs = inputsOf();
    const at = inputs.findIndex((one) => isObject(one) && one.id === prompt.id);
    if (at === -1) next = change(next, ["inputs", inputs.length], prompt, inputs.length > 0);
    else if (!isDeepStrictEqual(inputs[at], prompt)) next = change(next, ["inputs", at], prompt);
  }
  const kept = prompts.map(({ id }) => id);
  for (const { id } of inputsOf().filter(isObject)) {
    const isOurs = typeof id === "string" && id.startsWith(`${name}-`) && !kept.includes(id);
    if (!isOurs || next.includes(`\${input:${id}}`)) continue;
    const at = inputsOf().findIndex((one) => isObject(one) && one.id === id);
    next = change(next, ["inputs", at], undefined);
  }
  if (entry === undefined && inputsOf().length === 0 && /"inputs"/.test(next) && !/"inputs"/.test(text)) return text;
  return next;
}

/** Everything is as expected; prompts are compared by what they add. */
function sameBut({ inputs: _after, ...after }: Json, { inputs: _before, ...expected }: Json): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(after)), JSON.parse(JSON.stringify(expected)));
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** `CommaExpected` as words. */
function words(code: string): string {
  return code
    .replaceAll(/([A-Z])/g, " $1")
    .trim()
    .toLowerCase();
}
