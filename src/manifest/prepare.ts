import { maxPathSegment } from "../kernel/characters.ts";
import { digestOfText } from "../kernel/digest.ts";
import { type Failure, failure, type IdCollision } from "../kernel/failure.ts";
import { type Issue, pointer } from "../kernel/issue.ts";
import { isObject } from "../kernel/json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { analyzeItem, boundedFlags, flagsPerItem, type ItemAnalysis } from "./describe.ts";
import { type CapabilityFlag, keepSevere } from "./flag.ts";
import { analysisBytes } from "./item-cache.ts";
import { scanCapability, twinFlags } from "./scan.ts";
import { sectionForKind, sections } from "./schema/manifest.ts";
import { canonicalManifest, type StoredCapability } from "./stored.ts";
import { type CountOptions, tokenCounter } from "./tokens.ts";
import {
  partOf,
  type Rejection,
  splitManifest,
  type ValidateOptions,
  type ValidItem,
  validateFields,
  validateItems,
} from "./validate.ts";

export type { Rejection };

/** A capability ready to be stored, with the data that only the publish needs. */
export interface PreparedCapability extends Omit<StoredCapability, "declared">, ItemAnalysis {}

export interface PreparedManifest {
  digest: string;
  /** Flags about the header, and about tools whose names differ only in case. */
  flags: CapabilityFlag[];
  header: Record<string, unknown>;
  capabilities: PreparedCapability[];
  rejected: Rejection[];
}

export interface PrepareOptions extends ValidateOptions, CountOptions {}

/**
 * Document → manifest: validates, normalises, scans, digests, counts tokens. Reports all invalid items, not just the
 * first.
 */
export async function prepareManifest(
  document: unknown,
  options: PrepareOptions,
): Promise<Result<PreparedManifest, Failure>> {
  if (!isObject(document)) return err(invalid([{ path: "", rule: "type", message: "a manifest is an object" }]));

  const { fields, items, rejected: misplaced } = splitManifest(document, options.server);
  // A partial publish omits damaged parts. It fails if the damage is outside all parts; a full publish fails with any
  // damage.
  const named = Object.keys(fields).filter((key) => key.length < maxPathSegment);
  const parts = new Set([...named.map((key) => pointer("", key)), ...items.map(({ path }) => path)]);
  const unreadable = options.documentIssues.filter(({ path }) => !options.partial || !parts.has(partOf(path) ?? ""));
  if (unreadable.length > 0) {
    return err(failure("ErrorInvalidBody", unreadable[0]?.message, { issues: unreadable }));
  }
  if (items.length > options.bounds.capabilities) {
    const message = `A manifest holds at most ${options.bounds.capabilities} capabilities; this one has ${items.length}`;
    return err(failure("ErrorTooLarge", message));
  }
  const { header, rejected: fieldsRejected } = validateFields(fields, options);
  const { accepted, rejected: itemsRejected } = validateItems(items, options);
  const rejected = bounded([...misplaced, ...fieldsRejected, ...itemsRejected]);
  const beyondPartial = rejected.some(({ path }) => path === "");
  if (beyondPartial || (rejected.length > 0 && !options.partial)) {
    return err(invalid(rejected.flatMap(({ issues }) => issues)));
  }

  const capabilities = await describe(accepted, options);
  const digest = await digestOfText(canonicalManifest(header, capabilities));
  const own = scanCapability({ kind: "server", name: options.server, declared: header });
  const flags = [...boundedFlags(own, flagsPerItem), ...twins(capabilities)];
  return ok({ digest, flags, header, capabilities, rejected });
}

/** The manifest without the items whose ids belong to other servers. Those items are added to `rejected`. */
export async function withoutCollidingIds(
  manifest: PreparedManifest,
  collisions: readonly IdCollision[],
): Promise<PreparedManifest> {
  const taken = new Map(collisions.map((collision) => [collision.id, collision]));
  const capabilities = manifest.capabilities.filter(({ id }) => !taken.has(id));
  const rejected = manifest.capabilities.flatMap(({ id, kind, key }): Rejection[] => {
    const collision = taken.get(id);
    if (collision === undefined) return [];
    const path = `/${sectionForKind(kind)}`;
    return [
      { path, name: key, issues: [{ path, rule: "id-taken", message: `${id} is taken by ${collision.takenBy}` }] },
    ];
  });
  return {
    ...manifest,
    capabilities,
    rejected: [...manifest.rejected, ...rejected],
    digest: await digestOfText(canonicalManifest(manifest.header, capabilities)),
  };
}

async function describe(candidates: ValidItem[], options: PrepareOptions): Promise<PreparedCapability[]> {
  const described: PreparedCapability[] = [];
  const countTokens = tokenCounter(options);
  let flagBudget = flagsPerManifest;
  for (const { section, key, id, item, known, itemCacheKey } of candidates) {
    const made = known ?? (await analyzeItem(section, key, item, countTokens));
    if (known === undefined && itemCacheKey !== undefined) options.memo?.set(itemCacheKey, made, analysisBytes(made));
    // One flag is kept whatever the others had: many flagged items must not make the next one look clean.
    const flags = keepSevere(made.flags, Math.max(1, flagBudget));
    flagBudget -= flags.length;
    described.push({ ...made, kind: sections[section].kind, key, id, flags: [...flags] });
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
  const first = issues[0];
  const reason = first === undefined ? "" : `: ${first.path === "" ? "" : `${first.path} `}${first.message}`;
  return failure("ErrorMCPServerValidation", `MCP server validation failed${reason}`, {
    issues: issues.slice(0, 100),
    omitted: issues.length > 100 ? issues.length - 100 : undefined,
  });
}
