import type { Bounds } from "../kernel/bounds.ts";
import { characterIssues } from "../kernel/characters.ts";
import { canonicalJson } from "../kernel/digest.ts";
import { type Issue, pointer } from "../kernel/issue.ts";
import { isObject } from "../kernel/json.ts";
import { byteLength, clip } from "../kernel/text.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import type { ItemAnalysis } from "./describe.ts";
import { type ItemMemo, itemCacheKey } from "./item-cache.ts";
import { schemaIssues } from "./scan.ts";
import type { CapabilityKind } from "./schema/capability.ts";
import { ManifestHeader, responseOnlyKeys, type SectionName, sectionNames, sections } from "./schema/manifest.ts";

/**
 * The id of a capability that declares none: `{provider}.{server}.{name}`. Dots and anything unusual inside a part are
 * escaped as `~` and hex, so what follows the last dot is always the name. Kinds other than tools and operations carry
 * their kind in the last part, because a prompt may share its name with a tool.
 */
export function defaultCapabilityId(server: string, kind: CapabilityKind, key: string, provider?: string): string {
  const name = kind === "tool" || kind === "operation" ? escapePart(key) : `${kind}:${escapePart(key)}`;
  return `${escapePart((provider ?? "mcp").toLowerCase())}.${escapePart(server)}.${name}`;
}

const encoder = new TextEncoder();

function escapePart(part: string): string {
  return part.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    Array.from(encoder.encode(character), (byte) => `~${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/** Taking a manifest apart into its own fields and its items, and judging each part by the rules. */

/** An item that a partial publish left out, and why. */
export interface Rejection {
  path: string;
  name?: string;
  issues: Issue[];
}

/** An item that passed. */
export interface ValidItem {
  section: SectionName;
  path: string;
  key: string;
  id: string;
  item: Record<string, unknown>;
  /** Under which what is worked out about it may be kept, and what was. */
  itemCacheKey?: string;
  known?: ItemAnalysis;
}

export interface ValidateOptions {
  server: string;
  /** Take the valid parts and report the rest, instead of all or nothing. */
  partial: boolean;
  bounds: Bounds;
  /** What the parser found that a value can no longer show: duplicate keys, lossy numbers. */
  documentIssues: Issue[];
  /** Items that were judged and described before by the same rules. */
  memo?: ItemMemo;
}

export function splitManifest(document: Record<string, unknown>, server: string) {
  const fields: [string, unknown][] = [];
  const items: { section: SectionName; path: string; value: unknown }[] = [];
  const rejected: Rejection[] = [];
  for (const [key, value] of Object.entries(document)) {
    if ((responseOnlyKeys as readonly string[]).includes(key)) continue;
    if (key === "serverInfo" && isDefaultServerInfo(value, document, server)) continue;
    if (!isSection(key)) {
      fields.push([key, value]);
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        items.push({ section: key, path: pointer(`/${key}`, index), value: item });
      });
    } else if (value !== null && value !== undefined) {
      rejected.push(rejection(`/${key}`, [{ path: `/${key}`, rule: "type", message: "must be an array" }]));
    }
  }
  items.sort((a, b) => sectionNames.indexOf(a.section) - sectionNames.indexOf(b.section));
  // From entries, because assigning a key such as __proto__ would not make a field of it.
  return { fields: Object.fromEntries(fields), items, rejected };
}

/** What answers fill in for a server that declares nothing about itself is not a declaration when it comes back. */
export function defaultServerInfo(header: Record<string, unknown>, server: string): { name: string; version: string } {
  return { name: server, version: typeof header.version === "string" ? header.version : "" };
}

function isDefaultServerInfo(value: unknown, document: Record<string, unknown>, server: string): boolean {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  const { name, version } = defaultServerInfo(document, server);
  return value.name === name && value.version === version;
}

/** The manifest's own fields: all of them valid, or with a partial publish the ones that are. */
export function validateFields(fields: Record<string, unknown>, options: ValidateOptions) {
  const damage = Map.groupBy(options.documentIssues, ({ path }) => partOf(path) ?? "");
  const whole = Object.entries(fields).filter(([key]) => !damage.has(pointer("", key)));
  const violations = Map.groupBy(
    zodIssues(ManifestHeader, Object.fromEntries(whole), ""),
    ({ path }) => partOf(path) ?? "",
  );
  const rejected = [...damage].flatMap(([path, issues]) =>
    path.lastIndexOf("/") === 0 ? [rejection(path, issues)] : [],
  );
  const kept = whole.filter(([key, value]) => {
    const path = pointer("", key);
    // One field at a time: a long list of faults in one must not hide those of the next.
    const issues = [...(violations.get(path) ?? []), ...characterIssues({ [key]: value }, "")];
    if (issues.length > 0) rejected.push(rejection(path, issues));
    return issues.length === 0;
  });
  const header = Object.fromEntries(kept);
  if (byteLength(canonicalJson(header)) > options.bounds.configBytes) {
    const message = `the manifest's own fields are larger than ${options.bounds.configBytes} bytes`;
    rejected.push(rejection("", [{ path: "", rule: "size", message }]));
  }
  return { header, rejected };
}

export function validateItems(
  items: { section: SectionName; path: string; value: unknown }[],
  options: ValidateOptions,
) {
  const accepted: ValidItem[] = [];
  const rejected: Rejection[] = [];
  const seen = new Map<string, string>();
  const damage = Map.groupBy(options.documentIssues, (issue) => partOf(issue.path) ?? "");
  for (const { section, path, value } of items) {
    // What the parser could not read for sure is not looked at any further.
    const damaged = damage.get(path);
    const text = damaged === undefined && options.memo !== undefined ? itemCacheKey(section, value) : undefined;
    const known = text === undefined ? undefined : options.memo?.get(text);
    const issues = damaged ?? (known === undefined ? itemIssues(section, path, value, options.bounds) : []);
    const item = isObject(value) ? value : {};
    const key = sections[section].key(item);
    const id = capabilityId(options.server, section, key, item);
    const replaced = section === "generators" && item.override === true ? seen.get(`${section} ${key}`) : undefined;
    for (const name of [`${section} ${key}`, id]) {
      const earlier = seen.get(name);
      if (issues.length > 0 || earlier === undefined || earlier === replaced) continue;
      issues.push({ path, rule: "duplicate", message: `${JSON.stringify(name)} is already at ${earlier}` });
    }
    if (issues.length === 0) {
      if (replaced !== undefined)
        accepted.splice(
          accepted.findIndex((other) => other.path === replaced),
          1,
        );
      seen.set(`${section} ${key}`, path).set(id, path);
      const memo = { itemCacheKey: text, known };
      accepted.push({ section, path, key, id, item, ...memo });
    } else {
      rejected.push(rejection(path, issues, key));
    }
  }
  return { accepted, rejected };
}

function itemIssues(section: SectionName, path: string, value: unknown, bounds: Bounds): Issue[] {
  if (!isObject(value)) return [{ path, rule: "type", message: "must be an object" }];
  const issues = [...zodIssues(sections[section].schema, value, path), ...characterIssues(value, path)];
  for (const field of ["inputSchema", "outputSchema"]) {
    if (isObject(value[field])) issues.push(...schemaIssues(value[field], pointer(path, field)));
  }
  if (issues.length === 0 && isLarger(value, bounds.capabilityBytes)) {
    issues.push({ path, rule: "size", message: `larger than ${bounds.capabilityBytes} bytes` });
  }
  return issues;
}

function capabilityId(server: string, section: SectionName, key: string, item: Record<string, unknown>): string {
  if (typeof item.id === "string") return item.id;
  const provider = typeof item.provider === "string" ? item.provider : undefined;
  return defaultCapabilityId(server, sections[section].kind, key, provider);
}

/** A few reasons say enough about one part, and keep the answer to a hostile document small. */
const keptReasons = 5;
const keptPath = 256;

function rejection(path: string, issues: readonly Issue[], name = ""): Rejection {
  const kept = issues.slice(0, keptReasons).map((issue) => ({ ...issue, path: clipped(issue.path) }));
  return name === "" ? { path, issues: kept } : { path, name: name.slice(0, 256), issues: kept };
}

function clipped(path: string): string {
  return clip(path, keptPath);
}

/** The part of a manifest that a pointer lies in: `/tools/3` or a field such as `/title`; none for the whole. */
export function partOf(path: string): string | undefined {
  const [, first, index] = path.split("/");
  if (first === undefined || first === "") return undefined;
  if (!isSection(first)) return `/${first}`;
  return index === undefined ? undefined : `/${first}/${index}`;
}

function isSection(key: string): key is SectionName {
  return Object.hasOwn(sections, key);
}

/** Whether it is, as canonical JSON. That is no longer than any other JSON of it, and a character is at most 3 bytes. */
function isLarger(value: unknown, bytes: number): boolean {
  return 3 * JSON.stringify(value).length > bytes && byteLength(canonicalJson(value)) > bytes;
}
