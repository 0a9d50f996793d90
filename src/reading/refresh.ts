import type { NoLook, Refreshed } from "../objects/tenant/refresher.ts";
import type { Services } from "../services.ts";
import type { ServerRef } from "../storage/heads.ts";

/**
 * Has a server's sources read, and shows here what was found. `anew` where a change is known of: a look that is under
 * way may have been before it.
 */
export async function refreshNow(
  services: Services,
  { tenant, name }: ServerRef,
  { anew }: { anew: boolean },
): Promise<Refreshed | NoLook> {
  const refreshed = await services.tenant(tenant).refresh(name, { anew });
  if (typeof refreshed === "object") await services.heads.confirm(refreshed.head);
  return refreshed;
}
