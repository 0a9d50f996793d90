import type { Failure } from "../kernel/failure.ts";
import type { ServerRef } from "../kernel/names.ts";
import { ok, type Result } from "../kernel/result.ts";
import type { StrictJson } from "../kernel/strict-json.ts";
import { type PreparedManifest, prepareManifest, type Rejection, withoutCollidingIds } from "../manifest/prepare.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { Head, PublishOutcome, Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";

export interface Published extends PublishOutcome {
  digest: string;
  head: Head;
  rejected: Rejection[];
}

/** Another publisher can take an id between two tries; a few are enough for any but a deliberate race. */
const tries = 3;

/** About 20 ms of counting; what is published now may have to come from as far as its tenant, and is parsed whole. */
const countUnasked = 65_536;

/** Document → published manifest, whoever brings it: prepare it, hand it to its tenant, and show it here from now on. */
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

/** Everything a publish does short of publishing: what a preview shows. */
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
    charactersBeforeLookup: countUnasked,
    memo: services.itemCache.of(ref.tenant),
    loadTokenizer,
    pause: () => scheduler.wait(0),
  });
}

/**
 * Hands a manifest to its tenant. Only the tenant knows which ids its other servers hold, so a partial publish that
 * collides leaves those items out and tries again.
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
    // What was left out is for the publisher; the tenant has no use for it.
    const { rejected, ...accepted } = manifest;
    const published = await services.tenant(ref.tenant).publish(writer, { name: ref.name, manifest: accepted });
    if (published.ok) await services.heads.confirm(published.value.head);
    if (published.ok) return ok({ ...published.value, digest: manifest.digest, rejected });
    const { code, details } = published.error;
    if (!partial || code !== "ErrorCapabilityCollision" || attempt === tries) return published;
    manifest = await withoutCollidingIds(manifest, details?.collisions ?? []);
  }
}

/** Counts of what is published now. Any copy will do, however old: a count belongs to its digest for ever. */
async function knownTokens(services: RegistryDeps, ref: ServerRef): Promise<Map<string, number>> {
  const { head } = await services.heads.resolve(ref, { strong: false, minGeneration: 0 });
  const body = head?.digest === undefined ? undefined : await services.bodies.get(ref, head.digest);
  return new Map(body?.manifest.capabilities.map(({ digest, tokens }) => [digest, tokens]));
}
