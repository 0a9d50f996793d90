import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../domain/failure.ts";
import type { Head } from "../domain/head.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { StoredManifest } from "../domain/stored.ts";
import type { Services } from "../services.ts";
import type { Freshness, Resolved, ServerRef } from "../storage/heads.ts";
import { guardTenant, readableHead } from "./permission.ts";

/** What a server has published; the manifest is absent while that is nothing. */
export interface PublishedManifest {
  head: Head;
  manifest: StoredManifest | undefined;
}

/** As new as the caches have it: for callers that cannot ask for more. */
export const asCached: Freshness = { strong: false, minGeneration: 0 };

/** The manifest, for whoever answers a question about it rather than shows it. */
export async function readManifest(
  services: Services,
  principal: Principal,
  ref: ServerRef,
  freshness: Freshness = asCached,
): Promise<Result<PublishedManifest, Failure>> {
  const resolved = await resolveHead(services, principal, ref, freshness);
  if (!resolved.ok) return resolved;
  const readable = readableHead(principal, ref.tenant, resolved.value, freshness.minGeneration);
  if (!readable.ok) return readable;
  const head = readable.value;
  if (head.digest === undefined) return ok({ head, manifest: undefined });
  const body = await services.bodies.get(ref, head.digest);
  if (body === undefined) return err(failure("server_error", "The manifest is missing"));
  return ok({ head, manifest: body.manifest });
}

/** What is known of a server, once its tenant is known to be there. Who may read it is not decided yet. */
export async function resolveHead(
  services: Services,
  principal: Principal,
  ref: ServerRef,
  freshness: Freshness,
): Promise<Result<Resolved, Failure>> {
  const objection = await guardTenant(services, principal, ref.tenant);
  return objection === undefined ? ok(await services.heads.resolve(ref, freshness)) : err(objection);
}
