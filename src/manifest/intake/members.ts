import { type Issue, pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { nearest } from "../../kernel/nearest.ts";
import { clip } from "../../kernel/text.ts";
import type { Place } from "./places.ts";

/** What was found while members were read. */
export interface MemberReport {
  /** Members that are there in both spellings. */
  issues: Issue[];
  /** Members that nothing here knows. They are kept. */
  unknown: Issue[];
  /** Members of the outermost object that are left out of the result, and that the caller wants to see. */
  omit?: { names: ReadonlySet<string>; found: Record<string, unknown> };
}

/**
 * An object with its members in the registry's spelling. Goes by the names that are known at each place; the insides of
 * all other members are returned as they are. Returns the same object if nothing is spelled differently.
 */
export function readMembers(
  value: Record<string, unknown>,
  place: Place,
  path: string,
  report: MemberReport,
): Record<string, unknown> {
  // Made when the first member differs: most objects are as they should be.
  let changed: Map<string, unknown> | undefined;
  const keys = Object.keys(value);
  for (const [index, key] of keys.entries()) {
    const written = value[key];
    const read = readMember(value, key, place, path, report);
    if (read?.name === key && read.value === written) {
      changed?.set(key, written);
      continue;
    }
    changed ??= new Map(keys.slice(0, index).map((before) => [before, value[before]]));
    if (read !== undefined) changed.set(read.name, read.value);
  }
  // `fromEntries`, because assigning a key such as __proto__ would not create a member.
  return changed === undefined ? value : Object.fromEntries(changed);
}

/** A member with the registry's name of it; undefined if it is left out. */
function readMember(
  object: Record<string, unknown>,
  key: string,
  place: Place,
  path: string,
  report: MemberReport,
): { name: string; value: unknown } | undefined {
  const value = object[key];
  if (report.omit?.names.has(key)) {
    report.omit.found[key] = value;
    return undefined;
  }
  const member = place.members.get(key);
  if (member === undefined) {
    report.unknown.push(unknownMember(key, place, path));
    return { name: key, value };
  }
  const { name, inside } = member;
  if (name !== key && Object.hasOwn(object, name)) {
    report.issues.push(bothSpellings(pointer(path, key), name));
    return undefined;
  }
  return { name, value: inside === undefined ? value : readInside(value, inside, pointer(path, key), report) };
}

export function bothSpellings(path: string, name: string): Issue {
  return { path, rule: "both-spellings", message: `is ${name} in another spelling; send one of the two` };
}

/** An object, or each object of a list. Validation reports everything else. */
function readInside(value: unknown, place: Place, path: string, { issues, unknown }: MemberReport): unknown {
  const report = { issues, unknown };
  if (isObject(value)) return readMembers(value, place, path, report);
  if (!Array.isArray(value)) return value;
  const read = value.map((element, index) =>
    isObject(element) ? readMembers(element, place, pointer(path, index), report) : element,
  );
  return read.some((element, index) => element !== value[index]) ? read : value;
}

/** Names that other APIs use for a member. */
const elsewhere: Record<string, string> = {
  parameters: "inputSchema",
  arguments: "inputSchema",
  schema: "inputSchema",
  mime: "mimeType",
  media_type: "mimeType",
  summary: "title",
};

const longestName = 64;

function unknownMember(key: string, place: Place, path: string): Issue {
  const meant = nearest(key, place.members.keys()) ?? elsewhere[key];
  const known = meant === undefined ? undefined : place.members.get(meant);
  const question = known === undefined ? "" : `; did you mean ${known.name}?`;
  const name = clip(key, longestName);
  return { path: pointer(path, name), rule: "unknown-member", message: `is not known and was kept${question}` };
}
