import type { Refreshed } from "../objects/tenant/refresher.ts";
import type { Services } from "../services.ts";
import type { ServerRef } from "../storage/heads.ts";

/** Has a server's sources read, and shows here what was found. Undefined where there is nothing to read. */
export async function refreshNow(services: Services, { tenant, name }: ServerRef): Promise<Refreshed | undefined> {
  services.operations.objectCalls += 1;
  const refreshed = await services.tenant(tenant).refresh(name);
  if (refreshed !== undefined) await services.heads.confirm(refreshed.head);
  return refreshed;
}
