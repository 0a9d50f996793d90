import type { Principal } from "../auth/principal.ts";
import { advertisedBy } from "../domain/advertise.ts";
import type { Failure } from "../domain/failure.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { AdvertiseSettings } from "../schemas/index.ts";
import type { Services } from "../services.ts";
import { generationObjection, insiderObjection } from "./permission.ts";

/** What a tenant said about its own index, and what that comes to. */
export interface ShownAdvertise {
  settings: AdvertiseSettings;
  advertised: Record<string, boolean>;
  etag: string;
  generation: number;
}

export async function readAdvertise(
  services: Services,
  principal: Principal,
  tenant: string,
  minGeneration = 0,
): Promise<Result<ShownAdvertise, Failure>> {
  const objection = insiderObjection(principal, tenant);
  if (objection !== undefined) return err(objection);
  const { current, generation } = await services.tenant(tenant).advertise();
  const behind = generationObjection(minGeneration, generation);
  if (behind !== undefined) return err(behind);
  return ok(shownAdvertise(current?.settings ?? {}, current?.since ?? 0, generation));
}

export function shownAdvertise(settings: AdvertiseSettings, since: number, generation: number): ShownAdvertise {
  return { settings, advertised: { ...advertisedBy(settings) }, etag: `"advertise.${since}"`, generation };
}
