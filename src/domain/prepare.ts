import { sectionForKind, sections } from "../schemas/index.ts";
import { type Attribute, attributesOf } from "./attributes.ts";
import { canonicalJson, digestOfText } from "./canonical.ts";
import { clippedSegment } from "./characters.ts";
import { type Failure, failure, type IdCollision } from "./failure.ts";
import { type CapabilityFlag, type Flag, type Issue, pointer } from "./issue.ts";
import {
  type Candidate,
  isObject,
  type JudgeOptions,
  judgeFields,
  judgeItems,
  partOf,
  type Rejection,
  split,
} from "./manifest-parts.ts";
import { err, ok, type Result } from "./result.ts";
import { mentionedNames, scanCapability, schemaFlags, twinFlags } from "./scan.ts";
import { canonicalManifest, type StoredCapability } from "./stored.ts";
import type { CountTokens } from "./tokens.ts";

export type { Rejection };

/** A capability ready to be stored, with what only the publish itself needs. */
export interface PreparedCapability extends Omit<StoredCapability, "declared"> {
  /** The declared capability as canonical JSON. */
  text: string;
  /** `false` switches it off; anything else leaves it as it is. */
  enabled?: boolean;
  /** It says how it was discovered: where it does not say when, the registry does. */
  discovered: boolean;
  /** Names in its text that may belong to another server's capability. */
  mentions: string[];
  /** What its server is found by on its account. */
  attributes: Attribute[];
}

export interface PreparedManifest {
  digest: string;
  /** About the manifest's own text, and about items beside each other. */
  flags: CapabilityFlag[];
  header: Record<string, unknown>;
  capabilities: PreparedCapability[];
  rejected: Rejection[];
}

export interface PrepareOptions extends JudgeOptions {
  /** Token counts already known by digest: content that did not change is not counted again. */
  knownTokens: ReadonlyMap<string, number>;
  loadTokenizer: () => Promise<CountTokens>;
  /** Lets other requests run between slices of counting. */
  pause: () => Promise<void>;
}

/** Document → manifest: validated, normalised, scanned, digested and counted. Reports every bad item, not the first. */
export async function prepareManifest(
  document: unknown,
  options: PrepareOptions,
): Promise<Result<PreparedManifest, Failure>> {
  if (!isObject(document)) return err(invalid([{ path: "", rule: "type", message: "a manifest is an object" }]));

  const { fields, items, rejected: misplaced } = split(document, options.server);
  // A partial publish leaves a damaged part out; damage that is in no part of it, or a whole publish, cannot be mended.
  const named = Object.keys(fields).filter((key) => key.length < clippedSegment);
  const parts = new Set([...named.map((key) => pointer("", key)), ...items.map(({ path }) => path)]);
  const unreadable = options.documentIssues.filter(({ path }) => !options.partial || !parts.has(partOf(path) ?? ""));
  if (unreadable.length > 0) {
    return err(failure("ErrorInvalidBody", unreadable[0]?.message, { issues: unreadable }));
  }
  if (items.length > options.bounds.capabilities) {
    const message = `A manifest holds at most ${options.bounds.capabilities} capabilities; this one has ${items.length}`;
    return err(failure("ErrorTooLarge", message));
  }
  const { header, rejected: fieldsRejected } = judgeFields(fields, options);
  const { accepted, rejected: itemsRejected } = judgeItems(items, options);
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

/** The manifest without the items whose ids other servers hold, each of them reported as rejected. */
export async function withoutTakenIds(
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

async function describe(candidates: Candidate[], options: PrepareOptions): Promise<PreparedCapability[]> {
  const described: PreparedCapability[] = [];
  let uncounted = 0;
  let flagBudget = flagsPerManifest;
  for (const { section, key, id, item } of candidates) {
    const { kind } = sections[section];
    const { declared, enabled, createdAt, discovered } = normalise(item);
    // An instruction to the registry, not a property of the generator.
    if (kind === "generator") delete declared.override;
    const text = canonicalJson(declared);
    const digest = await digestOfText(text);
    let tokens = options.knownTokens.get(digest);
    if (tokens === undefined) {
      const countTokens = await options.loadTokenizer();
      tokens = countTokens(text);
      uncounted += text.length;
      if (uncounted > sliceCharacters) {
        uncounted = 0;
        await options.pause();
      }
    }
    const flags = scanCapability({ kind, name: key, declared });
    for (const field of ["inputSchema", "outputSchema"]) {
      if (isObject(declared[field])) flags.push(...schemaFlags(declared[field], `/${field}`));
    }
    const kept = boundedFlags(flags, Math.min(flagsPerItem, flagBudget));
    flagBudget -= kept.length;
    described.push({
      kind,
      key,
      id,
      digest,
      tokens,
      flags: kept,
      text,
      discovered,
      mentions: mentionedNames(declared),
      attributes: attributesOf(declared),
      ...(enabled === undefined ? {} : { enabled }),
      ...(createdAt === undefined ? {} : { createdAt }),
    });
  }
  return described;
}

const flagsPerItem = 20;
const flagsPerManifest = 1_000;
const flagText = 256;

/** Flags quote what the publisher wrote; however long that is, they stay short and few. */
function boundedFlags(flags: readonly Flag[], most: number): Flag[] {
  const clip = (text: string) => (text.length <= flagText ? text : `${text.slice(0, flagText)}…`);
  return flags.slice(0, most).map(({ rule, path, message }) => ({ rule, path: clip(path), message: clip(message) }));
}

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

/** Every part that was left out is named; when there are very many, with one reason each. */
function bounded(rejected: Rejection[]): Rejection[] {
  if (rejected.length <= 1_000) return rejected;
  return rejected.map((rejection) => ({ ...rejection, issues: rejection.issues.slice(0, 1) }));
}

/** About 20 ms of counting. */
const sliceCharacters = 65_536;

/** Takes out what moves without the declared content changing. */
function normalise(item: Record<string, unknown>) {
  const { enabled, lastSynced: _, ...rest } = item;
  const declared: Record<string, unknown> = rest;
  let createdAt: string | undefined;
  const { metadata } = declared;
  if (isObject(metadata) && isObject(metadata.discovery) && typeof metadata.discovery.created_at === "string") {
    const { created_at, ...discovery } = metadata.discovery;
    createdAt = created_at as string;
    declared.metadata = { ...metadata, discovery };
  }
  const discovered = isObject(metadata) && isObject(metadata.discovery);
  return { declared, enabled: typeof enabled === "boolean" ? enabled : undefined, createdAt, discovered };
}

function invalid(issues: Issue[]): Failure {
  const first = issues[0];
  const reason = first === undefined ? "" : `: ${first.path === "" ? "" : `${first.path} `}${first.message}`;
  return failure("ErrorMCPServerValidation", `MCP server validation failed${reason}`, {
    issues: issues.slice(0, 100),
    ...(issues.length > 100 ? { omitted: issues.length - 100 } : {}),
  });
}
