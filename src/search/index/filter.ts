import type { TenantKey } from "../../kernel/names.ts";
import { itemDimensions } from "../../manifest/attributes.ts";
import { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { ServerStatus } from "../../registry/schema.ts";
import { deprecatedBit, type IndexPart, kindNumber } from "./part.ts";

/** Which items are searched. Of each list, one value is enough; every list that is given must be met. */
export interface ItemFilter {
  kinds?: readonly CapabilityKind[];
  /** Server names, in every tenant searched. */
  servers?: readonly string[];
  tenants?: readonly TenantKey[];
  exceptTenants?: readonly TenantKey[];
  attributes?: Partial<Record<(typeof itemDimensions)[number], readonly string[]>>;
  status?: readonly ServerStatus[];
}

/** Status of a server; undefined if none of its items may be shown. */
export type StatusOf = (server: { tenant: TenantKey; name: string }) => ServerStatus | undefined;

/** 1 for each item of a part that passes; undefined if all do. `statusOf` is asked once for each server. */
export function wantedItems(part: IndexPart, filter: ItemFilter, statusOf?: StatusOf): Uint8Array | undefined {
  const { kinds, servers, tenants, attributes = {}, status } = filter;
  const exceptTenants = filter.exceptTenants?.length === 0 ? undefined : filter.exceptTenants;
  const isWanted = wantedAttributes(part, attributes);
  const tests = [kinds, servers, tenants, exceptTenants, status, statusOf, isWanted];
  if (tests.every((test) => test === undefined)) return undefined;
  const numbers = kinds && new Set(kinds.map(kindNumber));
  const wanted = new Uint8Array(part.count);
  part.servers.forEach((server, at) => {
    if (servers?.includes(server.name) === false || tenants?.includes(server.tenant) === false) return;
    if (exceptTenants?.includes(server.tenant)) return;
    const state = statusOf === undefined ? "active" : statusOf(server);
    if (state === undefined) return;
    const end = part.serverStarts[at + 1] as number;
    for (let place = part.serverStarts[at] as number; place < end; place += 1) {
      const kind = part.kinds[place] as number;
      if (numbers?.has(kind & ~deprecatedBit) === false) continue;
      if (status?.includes(itemStatus(kind, state)) === false) continue;
      if (isWanted !== undefined && !isWanted(place)) continue;
      wanted[place] = 1;
    }
  });
  return wanted;
}

/** As records show it: an item can be deprecated by itself while its server is active. */
export function itemStatus(kind: number, server: ServerStatus): ServerStatus {
  return (kind & deprecatedBit) !== 0 && server === "active" ? "deprecated" : server;
}

export function kindOf(kind: number): CapabilityKind {
  return CapabilityKind.options[kind & ~deprecatedBit] ?? "tool";
}

function wantedAttributes(
  { values, attributes, attributeStarts }: IndexPart,
  filters: NonNullable<ItemFilter["attributes"]>,
): ((place: number) => boolean) | undefined {
  const tests = itemDimensions.flatMap((dimension) => {
    const wanted = filters[dimension];
    if (wanted === undefined) return [];
    return [new Set(values.flatMap(([of, value], at) => (of === dimension && wanted.includes(value) ? [at] : [])))];
  });
  if (tests.length === 0) return undefined;
  return (place) => {
    const own = attributes.subarray(attributeStarts[place], attributeStarts[place + 1]);
    return tests.every((test) => own.some((value) => test.has(value)));
  };
}
