import { z } from "zod";
import { named } from "../../http/named.ts";
import { isObject } from "../../kernel/json.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import type { PreflightRequest } from "../views/schema.ts";
import { missingAt } from "./config-path.ts";

export const Preflight = named(
  "Preflight",
  z
    .object({
      type: z.string(),
      status: z.enum(["stable", "experimental", "deprecated"]),
      ready: z.boolean().describe("False if anything is known to be missing; see `unchecked` for what is not known."),
      missing_fields: z.array(z.string()).describe("Paths into the config, subfields included."),
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

/** Paths listed of what one requirement lacks: a list of the config may have many elements. */
const maxListedPaths = 20;

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

function checkFields(requirements: Generator["requirements"], config: unknown): CheckedFields {
  const checked: CheckedFields = { missing: [], unchecked: [], reasons: [] };
  const fields = requirements?.fields ?? [];
  const paths = [...new Set([...fields, ...subfieldPaths(requirements?.subfields, fields)])];
  if (paths.length > maxPaths)
    checked.unchecked.push(`subfields: only the first ${maxPaths} required paths were looked at`);
  const lacking = new Set<string>();
  for (const path of paths.slice(0, maxPaths)) {
    const found = missingAt(config, path);
    if (found.isPartial) checked.unchecked.push(`${path}: only the first elements of a long list were looked at`);
    // A subfield of a field that is missing as a whole is not a second problem.
    const own = found.paths.filter((at) => !lacking.has(at) && !parentsOf(at).some((parent) => lacking.has(parent)));
    for (const at of own) lacking.add(at);
    checked.missing.push(...own.slice(0, maxListedPaths));
    if (own.length > maxListedPaths)
      checked.reasons.push(`Missing field: ${path} in ${own.length - maxListedPaths} more elements`);
  }
  return checked;
}

/** `a` and `a.b` of `a.b[0]`. */
function parentsOf(path: string): string[] {
  return Array.from(path.matchAll(/[.[]/g), ({ index }) => path.slice(0, index));
}

/**
 * Paths of the required subfields. A list is required below each required field, or of the config itself if there is
 * none; a map says below what: `{a: ["b"]}`, `{a: {b: ["c"]}}`.
 */
function subfieldPaths(subfields: unknown, fields: readonly string[]): string[] {
  if (!Array.isArray(subfields)) return pathsBelow("", subfields);
  return fields.length === 0 ? pathsBelow("", subfields) : fields.flatMap((field) => pathsBelow(field, subfields));
}

function pathsBelow(parent: string, subfields: unknown): string[] {
  const below = (key: string) => (parent === "" ? key : `${parent}.${key}`);
  if (typeof subfields === "string") return subfields === "" ? [] : [below(subfields)];
  if (Array.isArray(subfields)) return subfields.flatMap((subfield) => pathsBelow(parent, subfield));
  if (!isObject(subfields)) return [];
  return Object.entries(subfields).flatMap(([key, value]) => {
    if (value === false || value === null) return [];
    const deeper = pathsBelow(below(key), value);
    return deeper.length === 0 ? [below(key)] : deeper;
  });
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
  const missing = needed.filter((name) => !names.has(packageName(name)));
  const versioned = needed.filter((name) => !missing.includes(name) && !held.includes(name) && hasVersion(name));
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
