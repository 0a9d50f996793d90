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
  omit?: { names: readonly string[]; found: Record<string, unknown> };
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
  const entries: [string, unknown][] = [];
  let isChanged = false;
  for (const key of Object.keys(value)) {
    const written = value[key];
    if (report.omit?.names.includes(key)) {
      report.omit.found[key] = written;
      isChanged = true;
      continue;
    }
    const member = place.members.get(key);
    if (member === undefined) {
      report.unknown.push(unknownMember(key, place, path));
      entries.push([key, written]);
      continue;
    }
    const { name, inside } = member;
    if (name !== key && Object.hasOwn(value, name)) {
      report.issues.push(bothSpellings(pointer(path, key), name));
      continue;
    }
    const read = inside === undefined ? written : readInside(written, inside, pointer(path, key), report);
    isChanged ||= name !== key || read !== written;
    entries.push([name, read]);
  }
  // `fromEntries`, because assigning a key such as __proto__ would not create a member.
  return isChanged ? Object.fromEntries(entries) : value;
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
