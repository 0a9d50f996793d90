import { stringify } from "yaml";
import type { Principal } from "../auth/principal.ts";
import { recordPrefix } from "../formats/rtfs/comments.ts";
import { exportRtfs, printRtfs, type RtfsCapability } from "../formats/rtfs/index.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { shownFlags } from "../manifest/flag.ts";
import type { DefinitionFormat } from "../manifest/model/definitions.ts";
import { checkTenantExists, requireReadable } from "./access.ts";
import type { Capability } from "./answer-schema.ts";
import { definitionsOfItems } from "./definitions/definitions.ts";
import type { RegistryDeps } from "./deps.ts";
import { type ChoiceOption, itemFlagsIn, obstacleTo } from "./record.ts";
import { recordText } from "./record-text.ts";
import type { CapabilityDocument } from "./views/capability.ts";

/** Formats of a capability document besides JSON. */
type TextFormat = "yaml" | "rtfs";

interface CapabilityText {
  text: string;
  /** JSON pointers to values that the format cannot express, relative to a list with only this capability. */
  losses: string[];
}

export function capabilityText(format: TextFormat, document: Capability): CapabilityText {
  if (format === "yaml") return { text: stringify(document, { version: "1.2" }), losses: [] };
  const { text, losses } = printRtfs([rtfsOf(document)]);
  const { tenant: _, name: __, digest: ___, ...record } = document.registry;
  return { text: `;; ${recordPrefix}${recordText(record)}\n${text}`, losses };
}

/** The fields that RTFS can express; what the registry knows is a comment. */
function rtfsOf({ kind: _, registry: __, runtime: ___, ...document }: Record<string, unknown>): RtfsCapability {
  return exportRtfs({ ...document, id: String(document.id) });
}

export interface FoundCapability extends CapabilityDocument {
  generation: number;
}

/** Finds a current capability of a tenant by its id. A switched-off capability is not found. */
export async function readCapability(
  services: RegistryDeps,
  principal: Principal,
  tenant: TenantKey,
  id: string,
  minGeneration = 0,
): Promise<Result<FoundCapability, Failure>> {
  const error = await checkTenantExists(services, principal, tenant);
  if (error !== undefined) return err(error);
  const { capability, generation, ...found } = await services.tenant(tenant).capability(id);
  const known = { head: found.head, asOf: generation };
  const readable = requireReadable(principal, tenant, known, minGeneration, "ErrorCapabilityNotFound");
  if (!readable.ok) return readable;
  const head = readable.value;
  const off = head.disabled.some(({ kind, key }) => kind === capability?.kind && key === capability.key);
  if (capability === undefined || off) return err(failure("ErrorCapabilityNotFound"));
  return ok({ capability, head, generation });
}

/** The definition for a model of a capability that was read. */
export function definitionOfFound(
  { capability, head }: CapabilityDocument,
  format: DefinitionFormat,
  include?: ChoiceOption[],
) {
  const flags = shownFlags(itemFlagsIn(head)(capability));
  const { status } = head;
  const { tenant, name: server } = head;
  const obstacle = obstacleTo({ flags, status }, include);
  return definitionsOfItems([{ ...capability, tenant, server, name: capability.key, flags, obstacle }], format);
}
