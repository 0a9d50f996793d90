import { characterIssues } from "../kernel/characters.ts";
import { canonicalJson } from "../kernel/digest.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { Issue } from "../kernel/issue.ts";
import { isObject } from "../kernel/json.ts";
import type { ServerRef } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { StrictJson } from "../kernel/strict-json.ts";
import { byteLength } from "../kernel/text.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import { type Claims, claimIssues, itemClaims } from "../manifest/intake/claims.ts";
import { refused } from "../manifest/intake/intake.ts";
import { readMembers } from "../manifest/intake/members.ts";
import { type Place, placeOf } from "../manifest/intake/places.ts";
import { warningTexts } from "../manifest/prepare.ts";
import { ServerConfig } from "./schema.ts";

/** Members of a config as somebody sent them. */
export interface ConfigMembers {
  members: Record<string, unknown>;
  /** What the sender states of the server, as answers do. */
  claims: Claims;
  warnings: string[];
}

const place = placeOf(ServerConfig, {
  lookInto: ["sources", "credential", "advertise", "variants", "policy"],
  alsoKnown: ["$schema", "version", "websiteUrl", "repository", "icons", "categories", "tags"],
});

/** The same with `resources: {advertise_resources, variants}`, another spelling of `advertise`. */
const placeWithResources: Place = {
  members: new Map([...place.members, ["resources", { ...place.members.get("advertise"), name: "advertise" }]]),
};

/** True if a config says in `resources` what belongs to `advertise`. Anything else called so is its publisher's own. */
function advertisesAsResources({ resources }: Record<string, unknown>): boolean {
  const settings = ["advertise_resources", "advertiseResources", "variants"];
  return isObject(resources) && settings.some((name) => Object.hasOwn(resources, name));
}

/** Members of a source that the registry does not read itself: a command on its publisher's host. */
const commandMembers = ["command", "args", "env", "cwd", "headers"];

/** What answers add to a config. */
const answerMembers = ["createdAt", "updatedAt", "generation", "effectiveBy", "changed", "warnings"];

/** Reads the members of a config, whichever of them are there. */
export function readConfigMembers({ value, issues: damage }: StrictJson): Result<ConfigMembers, Failure> {
  const [damaged] = damage;
  if (damaged !== undefined) {
    return err(failure("ErrorInvalidBody", `${damaged.path} ${damaged.message}`, { issues: damage }));
  }
  if (!isObject(value)) return err(refused([{ path: "", rule: "type", message: "a config is an object" }]));
  const claims: Claims = {};
  const issues: Issue[] = [];
  const unknown: Issue[] = [];
  const omit = { names: new Set([...itemClaims, ...answerMembers]), found: claims };
  const known = advertisesAsResources(value) ? placeWithResources : place;
  const members = readMembers(value, known, "", { issues, unknown, omit });
  if (issues.length > 0) return err(refused(issues));
  const odd = unknown.filter(({ path }) => !isCommandMember(path));
  return ok({ members, claims, warnings: warningTexts(odd) });
}

function isCommandMember(path: string): boolean {
  const [, list, , member = ""] = path.split("/");
  return list === "sources" && commandMembers.includes(member);
}

/** Of a new server the registry says nothing yet. */
export function newServerWarnings({ warnings, claims }: Pick<ConfigMembers, "warnings" | "claims">): string[] {
  return [...warnings, ...warningTexts(claimIssues(claims, { flags: [] }, ""))];
}

/** A complete config; faults are named by their place. */
export function parseConfig(members: Record<string, unknown>): Result<ServerConfig, Failure> {
  const issues = [...configIssues(members), ...messageIssues(members)];
  return issues.length > 0 ? err(refused(issues)) : ok(ServerConfig.parse(members));
}

/** A config after a change. */
export interface ChangedConfig {
  config: ServerConfig;
  /** Names of the members that are different now. */
  changed: string[];
}

/**
 * Changes the members that a patch names (RFC 7396): absent ones keep their value, null removes. A message about an
 * earlier status goes with that status: a server that becomes active keeps none. A fault that the config had before does
 * not count: the member may have been accepted by earlier rules.
 */
export function changeConfig(
  current: ServerConfig,
  patch: Record<string, unknown>,
  maxBytes: number,
): Result<ChangedConfig, Failure> {
  const { tenant, name } = current;
  const merged = mergePatch(current, { ...patch, tenant, name }) as Record<string, unknown>;
  const { statusMessage: _, ...silent } = merged;
  const next = isActive(merged) && !Object.hasOwn(patch, "statusMessage") ? silent : merged;
  const found = [...configIssues(next), ...messageIssues(next)];
  const before = new Set(found.length === 0 ? [] : configIssues(current).map(({ path }) => path));
  const issues = found.filter(({ path }) => !before.has(path));
  if (issues.length > 0) return err(refused(issues));
  const config = { ...next, visibility: next.visibility ?? "tenant" } as ServerConfig;
  if (byteLength(JSON.stringify(config)) > maxBytes) {
    return err(failure("ErrorTooLarge", `The config would be larger than ${maxBytes} bytes`, { limit: maxBytes }));
  }
  // Maps, because an object also has what it inherits: a member may be called `constructor`.
  const was = new Map<string, unknown>(Object.entries(current));
  const is = new Map<string, unknown>(Object.entries(config));
  const names = new Set([...was.keys(), ...is.keys()]);
  const changed = [...names].filter((key) => !isSame(was.get(key), is.get(key)));
  return ok({ config, changed });
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

function isActive({ status }: Record<string, unknown>): boolean {
  return status === undefined || status === "active";
}

/** A message is about a status that readers have to know of. */
function messageIssues(config: Record<string, unknown>): Issue[] {
  if (!isActive(config) || config.statusMessage === undefined) return [];
  const message = 'goes with the status "deprecated" or "withdrawn"; send one of them with it';
  return [{ path: "/statusMessage", rule: "status", message }];
}

function configIssues(value: unknown): Issue[] {
  return [...zodIssues(ServerConfig, value, ""), ...characterIssues(value, "")].slice(0, 100);
}

/** RFC 7396. Depth is bounded by the reader of the patch. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** Tenant and name of a server cannot be changed; a body may repeat them. */
export function checkSameServer(members: Record<string, unknown>, { tenant, name }: ServerRef): Failure | undefined {
  const issues = Object.entries({ tenant, name }).flatMap(([key, value]): Issue[] => {
    const given = key === "tenant" ? String(members[key]).toLowerCase() : members[key];
    const isOther = Object.hasOwn(members, key) && given !== (key === "tenant" ? value.toLowerCase() : value);
    return isOther ? [{ path: `/${key}`, rule: "renamed", message: `is ${value} and cannot be changed` }] : [];
  });
  return issues.length === 0 ? undefined : refused(issues);
}
