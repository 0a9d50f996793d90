import { type Bounds, importBounds } from "../kernel/bounds.ts";
import { characterIssues } from "../kernel/characters.ts";
import { canonicalJson } from "../kernel/digest.ts";
import { type Issue, pointer } from "../kernel/issue.ts";
import { countNodes, isObject } from "../kernel/json.ts";
import { analysisUnits, type Steps } from "../kernel/pace/pace.ts";
import { byteLength, clip } from "../kernel/text.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import { defaultCapabilityId } from "./capability-id.ts";
import type { ItemAnalysis } from "./describe.ts";
import { type ItemMemo, itemCacheKey } from "./item-cache.ts";
import { schemaIssues } from "./scan.ts";
import { ManifestHeader, type SectionName, sectionNames, sections } from "./schema/manifest.ts";

/** A part of a manifest that failed validation, and why. */
export interface Rejection {
  path: string;
  name?: string;
  issues: Issue[];
}

/** An item that passed validation. */
export interface ValidItem {
  section: SectionName;
  path: string;
  key: string;
  id: string;
  item: Record<string, unknown>;
  /** Key of the item in the analysis cache; `known` is the cached analysis. */
  itemCacheKey?: string;
  known?: ItemAnalysis;
}

export interface ValidateOptions {
  server: string;
  /** Publish the valid parts and report the rest, instead of all or nothing. */
  partial: boolean;
  bounds: Bounds;
  /** Cache of items that were validated and analyzed before under the same rules. */
  memo?: ItemMemo;
}

/** A document that was understood: its sections are lists. */
export function splitManifest(document: Record<string, unknown>, server: string) {
  const fields = Object.entries(document).filter(
    ([key, value]) => !isSection(key) && !(key === "serverInfo" && isDefaultServerInfo(value, document, server)),
  );
  const items = sectionNames.flatMap((section) => {
    const list = Object.hasOwn(document, section) ? (document[section] as unknown[]) : [];
    return list.map((value, index) => ({ section, path: pointer(`/${section}`, index), value }));
  });
  // `fromEntries`, because assigning a key such as __proto__ would not create a field.
  return { fields: Object.fromEntries(fields), items };
}

/** The `serverInfo` that responses add for a server that declares none. Ignored when published back. */
export function defaultServerInfo(header: Record<string, unknown>, server: string): { name: string; version: string } {
  return { name: server, version: typeof header.version === "string" ? header.version : "" };
}

function isDefaultServerInfo(value: unknown, document: Record<string, unknown>, server: string): boolean {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  const { name, version } = defaultServerInfo(document, server);
  return value.name === name && value.version === version;
}

/**
 * Validates the header fields. Returns the valid fields and the rejected ones. `found`: what was found wrong before and
 * the value no longer shows, such as duplicate keys.
 */
export function validateFields(fields: Record<string, unknown>, found: readonly Issue[], options: ValidateOptions) {
  const damage = Map.groupBy(found, ({ path }) => partOf(path) ?? "");
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
    // One field at a time: a long list of issues in one field must not hide the issues of the next.
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

/** Validates the items, in steps of one. */
export function* validationSteps(
  items: { section: SectionName; path: string; value: unknown }[],
  found: readonly Issue[],
  options: ValidateOptions,
): Steps<{ accepted: ValidItem[]; rejected: Rejection[] }> {
  const accepted: ValidItem[] = [];
  const rejected: Rejection[] = [];
  const seen = new Map<string, string>();
  const damage = Map.groupBy(found, (issue) => partOf(issue.path) ?? "");
  for (const { section, path, value } of items) {
    // Items with earlier findings are rejected without further validation.
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
      issues.push({ path, rule: "duplicate", message: `Duplicate of ${earlier}` });
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
    yield text === undefined ? unitsWithoutText + countNodes(value) : analysisUnits(known ? 0 : text.length);
  }
  return { accepted, rejected };
}

const unitsWithoutText = 50;

function itemIssues(section: SectionName, path: string, value: unknown, bounds: Bounds): Issue[] {
  if (!isObject(value)) return [{ path, rule: "type", message: "must be an object" }];
  const issues = [...zodIssues(sections[section].schema, value, path), ...characterIssues(value, path)];
  // Before anything follows their references: comparing and exploring schemas costs more than reading them.
  const nodes = countNodes(value.inputSchema) + countNodes(value.outputSchema);
  if (nodes > importBounds.schemaNodes) {
    const message = `its schemas have ${nodes} values, more than ${importBounds.schemaNodes} (schemaNodes)`;
    return [{ path, rule: "schemaNodes", message }];
  }
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

/** Limits per rejected part: a few issues explain it, and the response to a hostile document stays small. */
const keptReasons = 5;
const keptPath = 256;

function rejection(path: string, issues: readonly Issue[], name = ""): Rejection {
  const kept = issues.slice(0, keptReasons).map((issue) => ({ ...issue, path: clipped(issue.path) }));
  return name === "" ? { path, issues: kept } : { path, name: name.slice(0, 256), issues: kept };
}

function clipped(path: string): string {
  return clip(path, keptPath);
}

/**
 * The part of a manifest that contains the pointer: `/tools/3` or a field such as `/title`; undefined for the whole
 * manifest or a whole section.
 */
export function partOf(path: string): string | undefined {
  const [, first, index] = path.split("/");
  if (first === undefined || first === "") return undefined;
  if (!isSection(first)) return `/${first}`;
  return index === undefined ? undefined : `/${first}/${index}`;
}

function isSection(key: string): key is SectionName {
  return Object.hasOwn(sections, key);
}

/**
 * True if the canonical JSON is larger than `bytes`. It is computed only if needed: canonical JSON is no longer than
 * any other JSON of the value, and a character takes at most 3 bytes.
 */
function isLarger(value: unknown, bytes: number): boolean {
  return 3 * JSON.stringify(value).length > bytes && byteLength(canonicalJson(value)) > bytes;
}
