import { stringify } from "yaml";
import { isMember, type Principal } from "../auth/principal.ts";
import { recordPrefix } from "../formats/rtfs/comments.ts";
import { exportRtfs, printRtfs, type RtfsCapability } from "../formats/rtfs/index.ts";
import type { Freshness } from "../http/request.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import { type AnswerSource, farthestSource } from "../kernel/platform/usage.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { shownFlags } from "../manifest/flag.ts";
import type { DefinitionFormat } from "../manifest/model/definitions.ts";
import type { StoredCapability } from "../manifest/stored.ts";
import { checkTenantExists, requireReadable } from "./access.ts";
import type { Capability } from "./answer-schema.ts";
import type { Resolved } from "./cache/heads.ts";
import type { Head } from "./contract.ts";
import { definitionsOfItems } from "./definitions/definitions.ts";
import type { RegistryDeps } from "./deps.ts";
import { allowCached } from "./read.ts";
import { type ChoiceOption, itemFlagsIn, obstacleTo } from "./record.ts";
import { recordText } from "./record-text.ts";
import type { CapabilityDocument } from "./views/capability.ts";
import { isHidden } from "./views/enabled.ts";

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
  source: AnswerSource;
  /** The head as it is in memory, if the capability was found from memory alone. */
  remembered?: Resolved;
}

/**
 * Finds a current capability of a tenant by its id. A switched-off capability is not found. The object is asked only for
 * an id that this isolate does not know the server of, or that its server no longer has.
 */
export async function readCapability(
  services: RegistryDeps,
  principal: Principal,
  tenant: TenantKey,
  id: string,
  freshness: Freshness = allowCached,
): Promise<Result<FoundCapability, Failure>> {
  const missing = freshness.strong ? undefined : services.items.missingAsOf(tenant, id);
  const isMissing = missing !== undefined && missing >= freshness.minGeneration;
  if (!freshness.strong && !isMissing) {
    const known = await readKnown(services, principal, tenant, id, freshness);
    if (known !== undefined) return known;
  }
  const error = await checkTenantExists(services, principal, tenant);
  if (error !== undefined) return err(error);
  // Where the object has just said so, permission is still looked at: outsiders are told something else than members.
  const asked = services.items.asked();
  const { capability, generation, ...found } = isMissing
    ? { generation: missing, capability: undefined, head: undefined }
    : await services.tenant(tenant).capability(id);
  if (found.head === undefined && !isMissing) services.items.noteMissing(tenant, id, generation, asked);
  const state = { head: found.head, asOf: generation };
  const readable = requireReadable(principal, tenant, state, freshness.minGeneration, "ErrorCapabilityNotFound");
  if (!readable.ok) return readable;
  const head = readable.value;
  if (capability === undefined || isOff(head, capability)) return err(failure("ErrorCapabilityNotFound"));
  services.items.remember({ tenant, name: head.name }, id);
  return ok({ capability, head, generation, source: "object" });
}

/**
 * Reads the capability from the manifest of the server that is known to have it. undefined if the object must be asked: so
 * it is for callers who may not read the server, who would otherwise learn from the time taken that the id exists.
 */
async function readKnown(
  services: RegistryDeps,
  principal: Principal,
  tenant: TenantKey,
  id: string,
  freshness: Freshness,
): Promise<Result<FoundCapability, Failure> | undefined> {
  const name = services.items.serverOf(tenant, id) ?? (await services.publicServerOf(tenant, id));
  if (name === undefined) return undefined;
  const ref = { tenant, name };
  const remembered = services.heads.peek(ref, freshness);
  const { head, asOf, source } = remembered ?? (await services.heads.resolve(ref, freshness));
  if (head?.digest === undefined || head.deleted || asOf < freshness.minGeneration) return undefined;
  if (head.visibility !== "public" && !isMember(principal, tenant)) return undefined;
  const item = await services.items.get(ref, head.digest, id);
  if (item === undefined || isHidden(head, item.at)) return undefined;
  services.items.remember(ref, id);
  const { capability } = item;
  if (isOff(head, capability)) return err(failure("ErrorCapabilityNotFound"));
  const farthest = farthestSource(source, item.source);
  return ok({
    ...{ capability, head, generation: asOf, source: farthest },
    remembered: farthest === "memory" ? remembered : undefined,
  });
}

function isOff({ disabled }: Head, { kind, key }: StoredCapability): boolean {
  return disabled.some((item) => item.kind === kind && item.key === key);
}

/**
 * The capability if it is public and has this digest now; otherwise it is not found, for members too: revisions are read
 * where they are kept. A copy that is not the object's may be behind, so the object decides.
 */
export async function readPublicCapability(
  services: RegistryDeps,
  principal: Principal,
  tenant: TenantKey,
  id: string,
  digest: string,
  freshness: Freshness,
): Promise<Result<FoundCapability, Failure>> {
  const isIt = ({ capability, head }: FoundCapability) => head.visibility === "public" && capability.digest === digest;
  const found = await readCapability(services, principal, tenant, id, freshness);
  if (!found.ok && found.error.code === "ErrorGenerationAhead") return found;
  if (found.ok && isIt(found.value)) return found;
  if (found.ok && found.value.source !== "object") {
    const current = await readCapability(services, principal, tenant, id, { ...freshness, strong: true });
    if (current.ok && isIt(current.value)) return current;
  }
  const message = "No public capability has this id and digest now; revisions are the members'";
  return err(failure("ErrorCapabilityNotFound", message));
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
