import type { Head } from "../domain/head.ts";
import type { StoredManifest } from "../domain/stored.ts";
import type { Services } from "../services.ts";
import { bad, type RequestContext } from "./context.ts";
import { readableHead } from "./read-view.ts";
import { admit, freshnessOf, guardTenant, serverRef } from "./request.ts";

/** What a server has published, for routes that answer a question about it rather than show it. */
export async function readManifest(
  c: RequestContext,
  services: Services,
): Promise<{ head: Head; manifest: StoredManifest | undefined }> {
  const ref = serverRef(c);
  const freshness = freshnessOf(c);
  const principal = await admit(c, services, "registry:read");
  await guardTenant(services, principal, ref.tenant);
  const resolved = await services.heads.resolve(ref, freshness);
  const head = readableHead(principal, ref, resolved, freshness.minGeneration);
  if (head.digest === undefined) return { head, manifest: undefined };
  const body = await services.bodies.get(ref, head.digest);
  if (body === undefined) throw bad("server_error", "The manifest is missing");
  return { head, manifest: body.manifest };
}
