import { type Failure, failure } from "../../kernel/failure.ts";
import { type Issue, pointer, pointerSegments } from "../../kernel/issue.ts";
import { countNodes, isObject } from "../../kernel/json.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { StrictJson } from "../../kernel/strict-json.ts";
import { anySchema, sendableSchema } from "../model/parameters.ts";
import { type SectionName, sectionNames } from "../schema/manifest.ts";
import { type Claims, headerClaims, itemClaims } from "./claims.ts";
import { headerPlace, itemPlaces } from "./known-members.ts";
import { lookAlike } from "./look-alikes.ts";
import { type MemberReport, readMembers } from "./members.ts";
import { snakeCase } from "./places.ts";
import { findSections, type NamedSections, sectionNamed } from "./sections.ts";

/** A document that was understood as a manifest. */
export interface Intake {
  /** In the registry's spelling, without what only the registry may state. */
  document: Record<string, unknown>;
  /** The document as it was sent, to name places as its sender does. */
  written: Record<string, unknown>;
  sections: NamedSections;
  /** Names that the sender confirms as sections of its own. */
  confirmed: readonly string[];
  /** Findings of the parser. */
  damage: Issue[];
  /** Faults of single items and fields that the value no longer shows. */
  faults: Issue[];
  /** What is accepted, but probably not what was meant. */
  warnings: Issue[];
  claims: { header: Claims; items: { path: string; claims: Claims }[] };
}

interface IntakeOptions {
  /** Sections of the publisher's own, by name. */
  confirmed?: readonly string[];
}

/**
 * Reads a document as a manifest, or refuses it: what comes in is understood, or nothing changes. Every way in calls
 * this before anything else looks at the document.
 */
export function readIntake(document: StrictJson, options: IntakeOptions = {}): Result<Intake, Failure> {
  return runAtOnce(intakeSteps(document, options));
}

/** `readIntake` in steps of an item. */
export function* intakeSteps(
  { value, issues: damage }: StrictJson,
  options: IntakeOptions = {},
): Steps<Result<Intake, Failure>> {
  const { confirmed = [] } = options;
  if (!isObject(value)) return err(notAnObject(value));
  const { sections, issues } = findSections(value, confirmed);
  if (sections.known.length === 0) {
    const other = lookAlike(value);
    if (other !== undefined) {
      const message = `this looks like ${other.what}, not like a manifest; ${other.instead}`;
      return err(refused([{ path: other.path, rule: "look-alike", message }], { looksLike: other.what }));
    }
  }
  if (issues.length > 0) return err(refused(issues));
  if (sections.known.length === 0 && sections.own.length === 0) return err(refused([noSection]));
  if (value.nextCursor !== undefined && value.nextCursor !== null) return err(refused([incomplete]));
  return ok(yield* documentSteps(value, sections, damage, confirmed));
}

/** Reads one item that comes alone, in either spelling. */
export function readItem(section: SectionName, document: StrictJson): Result<StrictJson, Failure> {
  if (!isObject(document.value)) return ok(document);
  const issues: Issue[] = [];
  const omit = { names: itemClaims, found: {} };
  const value = readMembers(document.value, itemPlaces[section], "", { issues, unknown: [], omit });
  return issues.length > 0 ? err(refused(issues)) : ok({ ...document, value });
}

function* documentSteps(
  written: Record<string, unknown>,
  sections: NamedSections,
  damage: Issue[],
  confirmed: readonly string[],
): Steps<Intake> {
  const faults: Issue[] = [];
  const unknown: Issue[] = [];
  const items: Intake["claims"]["items"] = [];
  const header: Claims = {};
  const report: MemberReport = { issues: faults, unknown, omit: { names: headerClaims, found: header } };
  const renamed = readMembers(written, headerPlace, "", report);
  // A section of the publisher's own is no unknown member; whether the server has it already is for the object to say.
  const own = new Set(sections.own.map((name) => pointer("", name)));
  const warnings = unknown.filter(({ path }) => !own.has(path));
  const read: [SectionName, unknown[]][] = [];
  for (const section of sections.known) read.push([section, yield* itemSteps(section, renamed[section] as unknown[])]);
  return {
    document: { ...renamed, ...Object.fromEntries(read) },
    ...{ written, sections, confirmed, faults },
    damage: damage.map((issue) => ({ ...issue, path: inOwnSpelling(issue.path) })),
    warnings,
    claims: { header, items },
  };

  function* itemSteps(section: SectionName, list: unknown[]): Steps<unknown[]> {
    const made: unknown[] = [];
    for (const [index, item] of list.entries()) {
      made.push(isObject(item) ? readOne(section, item, pointer(`/${section}`, index)) : item);
      yield unitsPerItem + countNodes(item);
    }
    return made;
  }

  function readOne(section: SectionName, item: Record<string, unknown>, path: string): Record<string, unknown> {
    const found: Claims = {};
    const omit = { names: itemClaims, found };
    const shaped = section === "resourceTemplates" ? withParameterList(item) : item;
    const own = readMembers(shaped, itemPlaces[section], path, { issues: faults, unknown: warnings, omit });
    if (Object.keys(found).length > 0) items.push({ path, claims: found });
    if (section === "tools" || section === "operations") warnings.push(...inputSchemaWarnings(own, path));
    return own;
  }
}

const unitsPerItem = 10;

/** The resources view prints parameters as a map from names; the order of its keys is the order of the list. */
function withParameterList(item: Record<string, unknown>): Record<string, unknown> {
  const { parameters } = item;
  if (!isObject(parameters)) return item;
  const list = Object.entries(parameters).map(([name, one]) => (isObject(one) ? { name, ...one } : one));
  return { ...item, parameters: list };
}

/** What keeps an item from every model, by the rule that decides what is sent. */
function inputSchemaWarnings({ inputSchema }: Record<string, unknown>, path: string): Issue[] {
  if (!isObject(inputSchema)) return [];
  const sendable = sendableSchema(inputSchema, anySchema);
  if (sendable.ok) return [];
  const message = `keeps this from every model: ${sendable.error}`;
  return [{ path: pointer(path, "inputSchema"), rule: "input-schema", message }];
}

/** A pointer whose first segment is a section in another spelling, with the registry's name of the section. */
function inOwnSpelling(path: string): string {
  const [, first = ""] = path.split("/", 2);
  const section = sectionNamed(first);
  return section === undefined ? path : `/${section}${path.slice(first.length + 1)}`;
}

/** A pointer into the registry's spelling of a document, as a pointer into what was sent. */
export function writtenPath(document: unknown, path: string): string {
  let at = document;
  let written = "";
  for (const segment of pointerSegments(path)) {
    const object = isObject(at) ? at : {};
    const respelt = !Object.hasOwn(object, segment) && Object.hasOwn(object, snakeCase(segment));
    const key = respelt ? snakeCase(segment) : segment;
    written = pointer(written, key);
    at = Array.isArray(at) ? at[Number(segment)] : object[key];
  }
  return written;
}

const known = sectionNames.join(", ");

const noSection: Issue = {
  path: "",
  rule: "no-section",
  message: `names no section of a manifest (${known}), so nothing says what the server has; to publish a server without capabilities send "tools": []`,
};

const incomplete: Issue = {
  path: "/nextCursor",
  rule: "incomplete-list",
  message: "says that the list has more pages; read all of them and send the whole list",
};

function notAnObject(value: unknown): Failure {
  const instead = Array.isArray(value) ? 'this is an array; send {"tools": […]}' : `send {"tools": […]}`;
  return refused([{ path: "", rule: "type", message: `a manifest is an object; ${instead}` }]);
}

/** A refusal of a whole document. */
export function refused(issues: Issue[], details: Record<string, unknown> = {}): Failure {
  const [first] = issues;
  const place = first === undefined || first.path === "" ? "" : `${first.path} `;
  const message = `MCP server validation failed: ${place}${first?.message ?? ""}`;
  return failure("ErrorMCPServerValidation", message, { issues, ...details });
}
