import type { Failure } from "../kernel/failure.ts";
import type { ServerRef } from "../kernel/names.ts";
import { ok, type Result } from "../kernel/result.ts";
import type { StrictJson } from "../kernel/strict-json.ts";
import { definitionOf } from "../manifest/definition.ts";
import { analysisVersion } from "../manifest/describe.ts";
import { type CapabilityFlag, type Shown, shownFlags } from "../manifest/flag.ts";
import { type PreparedManifest, prepareManifest, type Rejection, withoutCollidingIds } from "../manifest/prepare.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { Head, PublishOutcome, Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";

export interface Published extends Omit<PublishOutcome, "flags"> {
  flags: Shown<CapabilityFlag>[];
  digest: string;
  head: Head;
  rejected: Rejection[];
}

/** Another publisher can take an id between two tries; three are enough except against a deliberate race. */
const tries = 3;

/**
 * About 20 ms of token counting. Up to this many characters, counting is cheaper than looking up the counts of the
 * published manifest, which may have to be fetched from the tenant's object and is parsed whole.
 */
const charactersBeforeLookup = 65_536;

/**
 * Publishes a document: prepares the manifest, sends it to the tenant's object, and confirms the new head in this data
 * centre.
 */
export async function publishDocument(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  document: StrictJson,
  partial: boolean,
): Promise<Result<Published, Failure>> {
  const prepared = await prepareDocument(services, ref, document, partial);
  return prepared.ok ? publishPrepared(services, ref, writer, prepared.value, partial) : prepared;
}

/** All steps of a publish except the write; also used for previews. */
export async function prepareDocument(
  services: RegistryDeps,
  ref: ServerRef,
  document: StrictJson,
  partial: boolean,
): Promise<Result<PreparedManifest, Failure>> {
  return prepareManifest(document.value, {
    server: ref.name,
    partial,
    bounds: services.config.bounds,
    documentIssues: document.issues,
    knownTokens: () => knownTokens(services, ref),
    charactersBeforeLookup: charactersBeforeLookup,
    memo: services.itemCache.of(ref.tenant),
    loadTokenizer,
    pause: () => scheduler.wait(0),
  });
}

/**
 * Sends a manifest to the tenant's object. Only the object knows the ids of the tenant's other servers, so a partial
 * publish with colliding ids drops those items and tries again.
 */
export async function publishPrepared(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  prepared: PreparedManifest,
  partial: boolean,
): Promise<Result<Published, Failure>> {
  let manifest = prepared;
  for (let attempt = 1; ; attempt += 1) {
    // Rejected items are reported to the publisher; the tenant's object does not need them.
    const { rejected, ...accepted } = manifest;
    const published = await services.tenant(ref.tenant).publish(writer, { name: ref.name, manifest: accepted });
    if (published.ok) await services.heads.confirm(published.value.head);
    if (published.ok) {
      const flags = shownFlags(published.value.flags);
      return ok({ ...published.value, flags, digest: manifest.digest, rejected });
    }
    const { code, details } = published.error;
    if (!partial || code !== "ErrorCapabilityCollision" || attempt === tries) return published;
    manifest = await withoutCollidingIds(manifest, details?.collisions ?? []);
  }
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
