import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../domain/failure.ts";
import type { Head } from "../domain/head.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Services } from "../services.ts";
import type { CapabilityDocument } from "../views/capability.ts";
import { guardTenant, readableHead } from "./permission.ts";

export interface FoundCapability extends CapabilityDocument {
  head: Head;
  generation: number;
}

/** A current capability of a tenant, by its id, while it is switched on. */
export async function readCapability(
  services: Services,
  principal: Principal,
  tenant: string,
  id: string,
  minGeneration = 0,
): Promise<Result<FoundCapability, Failure>> {
  const objection = await guardTenant(services, principal, tenant);
  if (objection !== undefined) return err(objection);
  const { capability, generation, ...found } = await services.tenant(tenant).capability(id);
  const known = { head: found.head, asOf: generation };
  const readable = readableHead(principal, tenant, known, minGeneration, "ErrorCapabilityNotFound");
  if (!readable.ok) return readable;
  const head = readable.value;
  const off = head.disabled.some(({ kind, key }) => kind === capability?.kind && key === capability.key);
  if (capability === undefined || off) return err(failure("ErrorCapabilityNotFound"));
  const flags = head.flags.filter(({ capability: about }) => about === id);
  return ok({ server: { tenant, name: head.name }, capability, flags, head, generation });
}
