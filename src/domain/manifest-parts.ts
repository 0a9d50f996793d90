import { answerKeys, ManifestHeader, type SectionName, sectionNames, sections } from "../schemas/index.ts";
import type { Bounds } from "./bounds.ts";
import { canonicalJson } from "./canonical.ts";
import { defaultCapabilityId } from "./capability-id.ts";
import { type Issue, pointer } from "./issue.ts";
import { characterIssues, schemaIssues } from "./scan.ts";
import { schemaViolations } from "./schema-violations.ts";

/** Taking a manifest apart into its own fields and its items, and judging each part by the rules. */

/** An item that a partial publish left out, and why. */
export interface Rejection {
  path: string;
  name?: string;
  issues: Issue[];
}

/** An item that passed. */
export interface Candidate {
  section: SectionName;
  path: string;
  key: string;
  id: string;
  item: Record<string, unknown>;
}

export interface JudgeOptions {
  server: string;
  /** Take the valid parts and report the rest, instead of all or nothing. */
  partial: boolean;
  bounds: Bounds;
  /** What the parser found that a value can no longer show: duplicate keys, lossy numbers. */
  documentIssues: Issue[];
}

export function split(document: Record<string, unknown>) {
  const fields: Record<string, unknown> = {};
  const items: { section: SectionName; path: string; value: unknown }[] = [];
  const misplaced: Issue[] = [];
  for (const [key, value] of Object.entries(document)) {
    if ((answerKeys as readonly string[]).includes(key)) continue;
    if (!isSection(key)) {
      fields[key] = value;
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        items.push({ section: key, path: pointer(`/${key}`, index), value: item });
      });
    } else if (value !== null && value !== undefined) {
      misplaced.push({ path: `/${key}`, rule: "type", message: "must be an array" });
    }
  }
  items.sort((a, b) => sectionNames.indexOf(a.section) - sectionNames.indexOf(b.section));
  return { fields, items, misplaced };
}

/** The manifest's own fields: all of them valid, or with a partial publish the ones that are. */
export function judgeFields(fields: Record<string, unknown>, options: JudgeOptions) {
  const found = [...schemaViolations(ManifestHeader, fields, ""), ...characterIssues(fields, "")];
  if (found.length === 0 && byteLength(canonicalJson(fields)) > options.bounds.configBytes) {
    const message = `the manifest's own fields are larger than ${options.bounds.configBytes} bytes`;
    return { header: fields, issues: [{ path: "", rule: "size", message }], rejected: [] };
  }
  if (!options.partial) return { header: fields, issues: found, rejected: [] };
  const damage = options.documentIssues.filter(({ path }) => partOf(path)?.lastIndexOf("/") === 0);
  const bad = Map.groupBy([...damage, ...found], ({ path }) => partOf(path) ?? "");
  const header = Object.fromEntries(Object.entries(fields).filter(([key]) => !bad.has(pointer("", key))));
  return {
    header,
    issues: bad.get("") ?? [],
    rejected: [...bad].map(([path, issues]): Rejection => ({ path, issues })),
  };
}

export function judgeItems(items: { section: SectionName; path: string; value: unknown }[], options: JudgeOptions) {
  const accepted: Candidate[] = [];
  const rejected: Rejection[] = [];
  const seen = new Map<string, string>();
  const damage = Map.groupBy(options.documentIssues, (issue) => partOf(issue.path) ?? "");
  for (const { section, path, value } of items) {
    const issues = [...(damage.get(path) ?? []), ...itemIssues(section, path, value, options.bounds)];
    const item = isObject(value) ? value : {};
    const key = sections[section].key(item);
    const id = capabilityId(options.server, section, key, item);
    for (const name of [`${section} ${key}`, id]) {
      const earlier = seen.get(name);
      if (issues.length > 0 || earlier === undefined) continue;
      issues.push({ path, rule: "duplicate", message: `${JSON.stringify(name)} is already at ${earlier}` });
    }
    if (issues.length === 0) {
      seen.set(`${section} ${key}`, path).set(id, path);
      accepted.push({ section, path, key, id, item });
    } else {
      rejected.push(key === "" ? { path, issues } : { path, name: key, issues });
    }
  }
  return { accepted, rejected };
}

function itemIssues(section: SectionName, path: string, value: unknown, bounds: Bounds): Issue[] {
  if (!isObject(value)) return [{ path, rule: "type", message: "must be an object" }];
  const issues = [...schemaViolations(sections[section].schema, value, path), ...characterIssues(value, path)];
  for (const field of ["inputSchema", "outputSchema"]) {
    if (isObject(value[field])) issues.push(...schemaIssues(value[field], pointer(path, field)));
  }
  if (issues.length === 0 && byteLength(canonicalJson(value)) > bounds.capabilityBytes) {
    issues.push({ path, rule: "size", message: `larger than ${bounds.capabilityBytes} bytes` });
  }
  return issues;
}

function capabilityId(server: string, section: SectionName, key: string, item: Record<string, unknown>): string {
  if (typeof item.id === "string") return item.id;
  const provider = typeof item.provider === "string" ? item.provider : undefined;
  return defaultCapabilityId(server, sections[section].kind, key, provider);
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
