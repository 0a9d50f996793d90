import { type PublishedManifest, readManifest as read } from "../reading/manifest.ts";
import type { Services } from "../services.ts";
import { type RequestContext, unwrap } from "./context.ts";
import { admit, freshnessOf, serverRef } from "./request.ts";

/** What a server has published, for routes that answer a question about it rather than show it. */
export async function readManifest(c: RequestContext, services: Services): Promise<PublishedManifest> {
  const ref = serverRef(c);
  const freshness = freshnessOf(c);
  const principal = await admit(c, services, "registry:read");
  return unwrap(await read(services, principal, ref, freshness));
}
