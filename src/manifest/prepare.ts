import { maxPathSegment } from "../kernel/characters.ts";
import { digestOfText } from "../kernel/digest.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { type Issue, pointer } from "../kernel/issue.ts";
import { analysisUnits, readingUnits } from "../kernel/pace/pace.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { clip } from "../kernel/text.ts";
import { analyzeItem, boundedFlags, flagsPerItem, type ItemAnalysis } from "./describe.ts";
import { type CapabilityFlag, keepSevere } from "./flag.ts";
import { type Claims, claimIssues } from "./intake/claims.ts";
import { type Intake, refused, writtenPath } from "./intake/intake.ts";
import { analysisBytes } from "./item-cache.ts";
import { scanCapability, twinFlags } from "./scan.ts";
import { sections } from "./schema/manifest.ts";
import { canonicalManifest, type StoredCapability } from "./stored.ts";
import { type CountOptions, tokenCounter } from "./tokens.ts";
import {
  partOf,
  type Rejection,
  splitManifest,
  type ValidateOptions,
  type ValidItem,
  validateFields,
  validationSteps,
} from "./validate.ts";

export type { Rejection };

/** A capability ready to be stored, with the data that only the publish needs. */
export interface PreparedCapability extends Omit<StoredCapability, "declared">, ItemAnalysis {
  /** Where its sender has it in the document. */
  path: string;
}

/** What is sent to the tenant's object. */
export interface AcceptedManifest {
  digest: string;
  /** Flags about the header, and about tools whose names differ only in case. */
  flags: CapabilityFlag[];
  header: Record<string, unknown>;
  capabilities: PreparedCapability[];
  /** Set if the items were sent before, in batches. */
  transfer?: string;
  /** Number of items in the document, rejected ones included. */
  offered: number;
  /** What only the object can judge, because it depends on what the server has. */
  intake: Pick<Intake, "sections" | "confirmed"> & { claims: Claims };
}

export interface PreparedManifest extends AcceptedManifest {
  rejected: Rejection[];
  warnings: string[];
}

export interface PrepareOptions extends ValidateOptions, CountOptions {}

/**
 * Document → manifest: validates, normalises, scans, digests, counts tokens. Reports all invalid items, not just the
 * first.
 */
export async function prepareManifest(
  intake: Intake,
  options: PrepareOptions,
): Promise<Result<PreparedManifest, Failure>> {
  const { document, damage, faults } = intake;
  const { fields, items } = splitManifest(document, options.server);
  // A partial publish omits damaged parts. It fails if the damage is outside all parts; a full publish fails with any
  // damage.
  const named = Object.keys(fields).filter((key) => key.length < maxPathSegment);
  const parts = new Set([...named.map((key) => pointer("", key)), ...items.map(({ path }) => path)]);
  const unreadable = damage.filter(({ path }) => !options.partial || !parts.has(partOf(path) ?? ""));
  if (unreadable.length > 0) {
    const issues = asWritten(intake, unreadable);
    return err(failure("ErrorInvalidBody", issues[0]?.message, { issues }));
  }
  const limit = options.bounds.capabilities;
  const beyond = items[limit];
  if (beyond !== undefined) {
    const path = writtenPath(intake.written, beyond.path);
    const message = `A manifest holds at most ${limit} capabilities; this one has ${items.length}, and ${path} is one too many`;
    const bound = { name: "capabilities", limit, found: items.length };
    return err(failure("ErrorMCPServerValidation", message, { bound, path }));
  }
  const found = [...damage, ...faults];
  const { header, rejected: fieldsRejected } = validateFields(fields, found, options);
  const { accepted, rejected: itemsRejected } = await options.pace.run(validationSteps(items, found, options));
  const rejected = bounded([...fieldsRejected, ...itemsRejected]).map(({ path, issues, ...rest }) => ({
    ...rest,
    path: writtenPath(intake.written, path),
    issues: asWritten(intake, issues),
  }));
  const beyondPartial = rejected.some(({ path }) => path === "");
  if (beyondPartial || (rejected.length > 0 && !options.partial)) {
    return err(invalid(rejected.flatMap(({ issues }) => issues)));
  }

  const capabilities = await describe(accepted, options);
  const text = canonicalManifest(header, capabilities);
  const digest = await digestOfText(text);
  await options.pace.spend(readingUnits(text.length));
  const own = scanCapability({ kind: "server", name: options.server, declared: header });
  const flags = [...boundedFlags(own, flagsPerItem), ...twins(capabilities)];
  const warnings = warningTexts(asWritten(intake, [...intake.warnings, ...itemClaimIssues(intake, capabilities)]));
  // Only now: claims are found by the place where the document has the item.
  if (intake.sections.known.some((section) => !Object.hasOwn(intake.written, section))) {
    for (const capability of capabilities) capability.path = writtenPath(intake.written, capability.path);
  }
  const { sections, confirmed, claims } = intake;
  return ok({
    ...{ digest, flags, header, capabilities, rejected, warnings, offered: items.length },
    intake: { sections, confirmed, claims: claims.header },
  });
}

/** What items state of themselves against what was worked out. */
function itemClaimIssues({ claims }: Intake, capabilities: readonly PreparedCapability[]): Issue[] {
  if (claims.items.length === 0) return [];
  const byPath = new Map(capabilities.map((capability) => [capability.path, capability]));
  return claims.items.flatMap(({ path, claims: own }) => {
    const capability = byPath.get(path);
    return capability === undefined ? [] : claimIssues(own, capability, path);
  });
}

const maxWarnings = 50;

/** Limited: every item of a document may have the same misspelt member. */
export function warningTexts(issues: readonly Issue[]): string[] {
  const texts = issues.slice(0, maxWarnings).map(({ path, message }) => `${clip(path, 256)} ${message}`.trim());
  return issues.length <= maxWarnings ? texts : [...texts, `and ${issues.length - maxWarnings} more like these`];
}

function asWritten({ written }: Intake, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, path: writtenPath(written, issue.path) }));
}

async function describe(candidates: ValidItem[], options: PrepareOptions): Promise<PreparedCapability[]> {
  const described: PreparedCapability[] = [];
  const countTokens = tokenCounter(options);
  let flagBudget = flagsPerManifest;
  for (const { section, path, key, id, item, known, itemCacheKey } of candidates) {
    const made = known ?? (await analyzeItem(section, key, item, countTokens));
    if (known === undefined && itemCacheKey !== undefined) options.memo?.set(itemCacheKey, made, analysisBytes(made));
    // One flag is kept whatever the others had: many flagged items must not make the next one look clean.
    const flags = keepSevere(made.flags, Math.max(1, flagBudget));
    flagBudget -= flags.length;
    described.push({ ...made, kind: sections[section].kind, path, key, id, flags: [...flags] });
    await options.pace.spend(analysisUnits(known === undefined ? made.text.length : 0));
  }
  return described;
}

const flagsPerManifest = 1_000;

function twins(capabilities: readonly PreparedCapability[]): CapabilityFlag[] {
  const tools = capabilities.filter(({ kind }) => kind === "tool");
  const found = twinFlags(tools.map(({ key }) => key));
  return tools
    .flatMap(({ key, id }) => {
      const flag = found.get(key);
      return flag === undefined ? [] : [{ ...flag, capability: id }];
    })
    .slice(0, flagsPerManifest);
}

/** Names every rejected part; if there are more than 1,000, with one issue each. */
function bounded(rejected: Rejection[]): Rejection[] {
  if (rejected.length <= 1_000) return rejected;
  return rejected.map((rejection) => ({ ...rejection, issues: rejection.issues.slice(0, 1) }));
}

function invalid(issues: Issue[]): Failure {
  return refused(issues.slice(0, 100), { omitted: issues.length > 100 ? issues.length - 100 : undefined });
}
