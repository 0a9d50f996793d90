import { z } from "zod";
import { named } from "../../http/named.ts";
import { isObject } from "../../kernel/json.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import type { PreflightRequest } from "../views/schema.ts";
import { missingAt, startCheck } from "./config-path.ts";

export const Preflight = named(
  "Preflight",
  z
    .object({
      type: z.string(),
      status: z.enum(["stable", "experimental", "deprecated"]),
      ready: z.boolean().describe("False if anything is known to be missing; see `unchecked` for what is not known."),
      missing_fields: z
        .array(z.string())
        .describe("Paths into the config, subfields included: the first 200, and 20 of one requirement."),
      missing_credentials: z.array(z.string()),
      missing_dependencies: z
        .array(z.string())
        .describe("Packages that are not among the caller's `dependencies`, if it sent any list."),
      dependencies: z.array(z.string()).describe("Packages that the generator's host must have installed."),
      unchecked: z.array(z.string()).describe("What the generator needs, or does not say, and nobody has checked."),
      timeout_ms: z.number().nullable().describe("Advised timeout; null if the generator calls nothing upstream."),
      concurrency: z.object({
        safe: z.boolean().nullable().describe("null if the generator does not say."),
        advice: z.string(),
      }),
      reasons: z.array(z.string()),
    })
    .describe("Whether a generator can run."),
);
export type Preflight = z.infer<typeof Preflight>;

type Upstream = Generator["upstreamDependencies"];

/** Used if a generator declares no p95 latency. */
const assumedP95Ms = 5_000;

/**
 * Checks whether a generator can run on a config with the credentials and packages the caller names, and advises on
 * timeout and concurrency. What the generator does not declare is unknown, not absent: only `null` means that it depends
 * on nothing upstream.
 */
export function preflight(generator: Generator, { config, credentials, dependencies }: PreflightRequest): Preflight {
  const { type, status = "stable", requirements, upstreamDependencies: upstream } = generator;
  const held = new Set(credentials);
  const needed = new Set([...(requirements?.envVars ?? []), ...(upstream?.credentialsRequired ?? [])]);
  const missing_credentials = [...needed].filter((name) => !held.has(name));
  const fields = checkFields(requirements, config);
  const packages = checkPackages(requirements?.dependencies ?? [], dependencies);
  const missing = fields.missing.length + missing_credentials.length + packages.missing.length;
  return {
    type,
    status,
    ready: missing === 0,
    missing_fields: fields.missing,
    missing_credentials,
    missing_dependencies: packages.missing,
    dependencies: requirements?.dependencies ?? [],
    unchecked: [...packages.unchecked, ...fields.unchecked, ...undeclared(upstream)],
    timeout_ms: upstream === null ? null : 2 * (upstream?.expectedLatencyMs?.p95 ?? assumedP95Ms),
    concurrency: concurrencyOf(upstream),
    reasons: [
      ...(status === "deprecated" ? ["It is deprecated"] : []),
      ...fields.missing.map((field) => `Missing field: ${field}`),
      ...fields.reasons,
      ...missing_credentials.map((name) => `Missing credential: ${name}`),
      ...packages.missing.map((name) => `Missing dependency: ${name}`),
      timeoutReason(upstream),
      ...(upstream?.stability !== undefined && upstream.stability !== "stable"
        ? [`Its upstream is ${upstream.stability}`]
        : []),
    ],
  };
}

function timeoutReason(upstream: Upstream): string {
  if (upstream === null) return "It depends on nothing upstream";
  const p95 = upstream?.expectedLatencyMs?.p95;
  if (p95 !== undefined) return `The timeout is twice its p95 latency of ${p95} ms`;
  const undeclared =
    upstream === undefined
      ? "It does not say whether it depends on anything upstream"
      : "Its p95 latency is not declared";
  return `${undeclared}; ${assumedP95Ms} ms is assumed, and the timeout is twice that`;
}

function concurrencyOf(upstream: Upstream): Preflight["concurrency"] {
  if (upstream === null) return { safe: true, advice: "several may run at once: it depends on nothing upstream" };
  const safe = upstream?.concurrencySafe ?? null;
  if (safe) return { safe, advice: "several may run at once" };
  const why = safe === null ? "it does not say whether several may run at once" : "it is not safe to run at once";
  return { safe, advice: `run one at a time: ${why}` };
}

function undeclared(upstream: Upstream): string[] {
  if (upstream === null) return [];
  if (upstream === undefined) return ["upstream_dependencies: the generator does not declare them"];
  return upstream.concurrencySafe === undefined ? ["concurrency_safe: the generator does not declare it"] : [];
}

interface CheckedFields {
  missing: string[];
  unchecked: string[];
  reasons: string[];
}

/** Required paths that are looked at: the publisher may declare any number of subfields. */
const maxPaths = 1_000;

/** Longer paths are not looked at; a declared field has at most 256 characters. */
const maxPathLength = 1_000;

/** Missing fields that one answer lists. */
const maxMissing = 200;

function checkFields(requirements: Generator["requirements"], config: unknown): CheckedFields {
  const checked: CheckedFields = { missing: [], unchecked: [], reasons: [] };
  const { paths, isCut, tooLong } = requiredPaths(requirements);
  if (isCut) checked.unchecked.push(`subfields: only the first ${maxPaths} required paths were looked at`);
  if (tooLong > 0)
    checked.unchecked.push(`subfields: ${tooLong} paths of more than ${maxPathLength} characters were not looked at`);
  const check = startCheck();
  let unlisted = 0;
  for (const path of paths) {
    if (check.left === 0) {
      checked.unchecked.push(`${path}: the config is too large; this path and those after it were not looked at`);
      break;
    }
    const found = missingAt(config, path, check);
    if (found.isPartial) checked.unchecked.push(`${path}: only the first elements of a long list were looked at`);
    const listed = found.paths.slice(0, maxMissing - checked.missing.length);
    checked.missing.push(...listed);
    if (listed.length < found.paths.length) unlisted += found.paths.length - listed.length + found.more;
    else if (found.more > 0) checked.reasons.push(`Missing field: ${path} in ${found.more} more elements`);
  }
  if (unlisted > 0) checked.reasons.push(`Missing fields: ${unlisted} more`);
  return checked;
}

interface RequiredPaths {
  paths: Set<string>;
  isCut: boolean;
  tooLong: number;
}

/** The paths that are looked at, each once. They are made one by one: 500 fields may have any number of subfields each. */
function requiredPaths(requirements: Generator["requirements"]): RequiredPaths {
  const { fields = [], subfields } = requirements ?? {};
  const paths = new Set<string>(fields);
  let made = 0;
  let tooLong = 0;
  for (const path of subfieldPaths(subfields, fields)) {
    if (made === maxPaths) return { paths, isCut: true, tooLong };
    made += 1;
    if (path.length <= maxPathLength) paths.add(path);
    else tooLong += 1;
  }
  return { paths, isCut: false, tooLong };
}

/**
 * Paths of the required subfields. A list is required below each required field, or of the config itself if there is
 * none; a map says below what: `{a: ["b"]}`, `{a: {b: ["c"]}}`.
 */
function* subfieldPaths(subfields: unknown, fields: readonly string[]): Iterable<string> {
  const parents = Array.isArray(subfields) && fields.length > 0 ? fields : [""];
  for (const parent of parents) yield* pathsBelow(parent, subfields);
}

function* pathsBelow(parent: string, subfields: unknown): Iterable<string> {
  const below = (key: string) => (parent === "" ? key : `${parent}.${key}`);
  if (typeof subfields === "string") {
    if (subfields !== "") yield below(subfields);
  } else if (Array.isArray(subfields)) {
    for (const subfield of subfields) yield* pathsBelow(parent, subfield);
  } else if (isObject(subfields)) {
    for (const [key, value] of Object.entries(subfields)) {
      if (value === false || value === null) continue;
      let isLeaf = true;
      for (const path of pathsBelow(below(key), value)) {
        isLeaf = false;
        yield path;
      }
      if (isLeaf) yield below(key);
    }
  }
}

/** The packages a generator needs, compared by name with those the caller has. A version is never checked. */
function checkPackages(
  needed: readonly string[],
  held: readonly string[] | undefined,
): { missing: string[]; unchecked: string[] } {
  if (held === undefined) {
    const hint = "send the names of the packages you have in `dependencies`";
    return { missing: [], unchecked: needed.map((name) => `dependency ${name}: ${hint}`) };
  }
  const names = new Set(held.map(packageName));
  const exact = new Set(held);
  const isHeld = (name: string) => names.has(packageName(name));
  const missing = needed.filter((name) => !isHeld(name));
  const versioned = needed.filter((name) => isHeld(name) && !exact.has(name) && hasVersion(name));
  return { missing, unchecked: versioned.map((name) => `dependency ${name}: only its name was compared`) };
}

/** A dependency may be a requirement, such as `numpy>=2.0` or `@scope/name@^1`. Names differ in case, `-` and `_`. */
const requirement = /^(@?[^\s<>=!~^;[(@]+)(.*)$/s;

function packageName(dependency: string): string {
  return (requirement.exec(dependency.trim())?.[1] ?? dependency).toLowerCase().replaceAll("_", "-");
}

function hasVersion(dependency: string): boolean {
  return (requirement.exec(dependency.trim())?.[2] ?? "") !== "";
}
