import type { DirectoryState } from "../http/directory-state.ts";
import { countWork } from "../http/limits/work.ts";
import type { Failure } from "../kernel/failure.ts";
import type { ServerRef } from "../kernel/names.ts";
import { createWorkerPace } from "../kernel/platform/worker-pace.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { StrictJson } from "../kernel/strict-json.ts";
import type { Placement } from "../manifest/compose.ts";
import { definitionOf } from "../manifest/definition.ts";
import { analysisVersion } from "../manifest/describe.ts";
import { intakeSteps } from "../manifest/intake/intake.ts";
import {
  type PreparedCapability,
  type PreparedManifest,
  prepareManifest,
  type Rejection,
} from "../manifest/prepare.ts";
import { sectionNames } from "../manifest/schema/manifest.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { Head, PublishOutcome, Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { sendManifest } from "./send-manifest.ts";

/** How a document is published. */
export interface PublishOptions {
  /** Leave out the items that cannot be published, instead of publishing nothing. */
  partial: boolean;
  /** Show what would happen, and change nothing. */
  dryRun: boolean;
  placement: Placement;
  /** An import: change only the sections that the document names, and keep fields that it does not have. */
  onlyNamedSections?: boolean;
  /** Names that the sender confirms as sections of its own. */
  confirmed?: readonly string[];
}

export interface Published extends PublishOutcome {
  /** The items of the document that are published. */
  capabilities: PreparedCapability[];
  /** Undefined after a dry run. */
  head?: Head;
  /** A state of the directory that has it, if that was confirmed in time. */
  directory?: DirectoryState;
}

/**
 * About 20 ms of token counting. Up to this many characters, counting is cheaper than looking up the counts of the
 * published manifest, which may have to be fetched from the tenant's object and is parsed whole.
 */
const charactersBeforeLookup = 65_536;

/**
 * Publishes a document, whichever way it came: reads it as a manifest, prepares it, sends it to the tenant's object,
 * and confirms the new head in this data centre.
 */
export async function publishDocument(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  document: StrictJson,
  options: PublishOptions,
  pace = createWorkerPace(),
): Promise<Result<Published, Failure>> {
  const caller = writer.subject;
  const prepared = await prepareDocument(services, ref, document, { ...options, caller }, pace);
  return prepared.ok ? publishPrepared(services, ref, writer, prepared.value, options) : prepared;
}

/** All steps of a publish before the tenant's object is asked. */
export async function prepareDocument(
  services: RegistryDeps,
  ref: ServerRef,
  document: StrictJson,
  { partial, confirmed, caller }: Pick<PublishOptions, "partial" | "confirmed"> & { caller: string },
  pace = createWorkerPace(),
): Promise<Result<PreparedManifest, Failure>> {
  const intake = await pace.run(intakeSteps(document, { confirmed }));
  if (!intake.ok) return intake;
  const tooMuch = countWork(services, caller, "items", itemCount(intake.value.document));
  if (tooMuch !== undefined) return err(tooMuch);
  return prepareManifest(intake.value, {
    server: ref.name,
    partial,
    bounds: services.config.bounds,
    knownTokens: () => knownTokens(services, ref),
    charactersBeforeLookup: charactersBeforeLookup,
    memo: services.itemCache.of(ref.tenant),
    loadTokenizer,
    pace,
  });
}

function itemCount(document: Record<string, unknown>): number {
  return sectionNames.reduce((sum, name) => sum + (Array.isArray(document[name]) ? document[name].length : 0), 0);
}

async function publishPrepared(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  prepared: PreparedManifest,
  { partial, dryRun, placement: given, onlyNamedSections }: PublishOptions,
): Promise<Result<Published, Failure>> {
  // Rejected items and warnings are for the publisher; the tenant's object does not need them.
  const { rejected, warnings, ...manifest } = prepared;
  const { known } = manifest.intake.sections;
  const placement: Placement = onlyNamedSections ? { by: "push", sections: known } : given;
  const tenant = services.tenant(ref.tenant);
  const sent = await sendManifest(tenant, manifest);
  if (!sent.ok) return sent;
  const request = { name: ref.name, manifest: sent.value, placement, partial };
  const published = dryRun ? await tenant.rehearsePublish(writer, request) : await tenant.publish(writer, request);
  if (!published.ok) return err(withIssues(published.error, rejected));
  const head = "head" in published.value ? (published.value.head as Head) : undefined;
  const directory = "directory" in published.value ? (published.value.directory as DirectoryState) : undefined;
  if (head !== undefined) await services.heads.confirm(head, directory);
  return ok({
    ...withPrepared(published.value, { rejected, warnings }),
    head,
    capabilities: stored(manifest, published.value),
  });
}

/** If nothing was left to publish, the reasons include those found before the object was asked. */
function withIssues(error: Failure, rejected: readonly Rejection[]): Failure {
  if (error.code !== "ErrorMCPServerValidation" || rejected.length === 0) return error;
  const issues = [...rejected.flatMap((one) => one.issues), ...(error.details?.issues ?? [])].slice(0, 100);
  return { ...error, details: { ...error.details, issues } };
}

/** What the object found, with what was found before it was asked. */
export function withPrepared(
  outcome: PublishOutcome,
  { rejected, warnings }: Pick<PreparedManifest, "rejected" | "warnings">,
): PublishOutcome {
  return {
    ...outcome,
    rejected: [...rejected, ...outcome.rejected],
    // What is published already was warned of when it came; what was ignored is not published.
    warnings: outcome.outcome === "unchanged" ? outcome.warnings : [...warnings, ...outcome.warnings],
  };
}

function stored({ capabilities }: Pick<PreparedManifest, "capabilities">, { rejected }: PublishOutcome) {
  const left = new Set(rejected.map(({ path }) => path));
  return capabilities.filter(({ path }) => !left.has(path));
}

/** Token counts of the published manifest, by the text of each definition. Any copy of this release will do. */
async function knownTokens(services: RegistryDeps, ref: ServerRef): Promise<Map<string, number>> {
  const { head } = await services.heads.resolve(ref, { strong: false, minGeneration: 0 });
  const body = head?.digest === undefined ? undefined : await services.bodies.get(ref, head.digest);
  if (body?.manifest.analysis !== analysisVersion) return new Map();
  const known = body.manifest.capabilities.map(({ kind, declared, tokens }): [string, number] => [
    JSON.stringify(definitionOf(kind, declared)),
    tokens,
  ]);
  return new Map(known);
}
