import type { Principal } from "../auth/principal.ts";
import { type Advertised, nothingAdvertised } from "../config.ts";
import type { Failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { checkMember, checkMinGeneration } from "../registry/access.ts";
import type { Advertise } from "../registry/schema.ts";
import type { ShownAdvertise } from "./answer-schema.ts";
import type { IndexDeps } from "./deps.ts";
import type { AdvertiseSettings } from "./schema.ts";

/**
 * The advertised variants: none by default; if switched on, `stats`, and the others only if named, because a client may
 * inject every listed resource into its context.
 */
export function advertisedBy(settings: Advertise | undefined): Advertised {
  const on = settings?.advertiseResources ?? settings?.advertise_resources ?? false;
  if (!on) return nothingAdvertised;
  const { summary = false, full = false, stats = true } = settings?.variants ?? {};
  return { summary, full, stats };
}

/** The settings with their ETag. */
interface TaggedAdvertise extends ShownAdvertise {
  etag: string;
}

export async function readAdvertise(
  services: IndexDeps,
  principal: Principal,
  tenant: TenantKey,
  minGeneration = 0,
): Promise<Result<TaggedAdvertise, Failure>> {
  const error = checkMember(principal, tenant);
  if (error !== undefined) return err(error);
  const { current, generation, tenant: shown = tenant } = await services.tenant(tenant).advertise();
  const behind = checkMinGeneration(minGeneration, generation);
  if (behind !== undefined) return err(behind);
  return ok(shownAdvertise(shown, current?.settings ?? {}, current?.since ?? 0, generation));
}

export function shownAdvertise(
  tenant: string,
  settings: AdvertiseSettings,
  since: number,
  generation: number,
): TaggedAdvertise {
  return { tenant, settings, advertised: { ...advertisedBy(settings) }, etag: `"advertise.${since}"`, generation };
}
