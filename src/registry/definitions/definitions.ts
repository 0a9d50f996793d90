import { isMember, type Principal } from "../../auth/principal.ts";
import { type TenantKey, tenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import { shownFlags } from "../../manifest/flag.ts";
import {
  type ChosenName,
  type DefinableItem,
  type DefinitionFormat,
  type LeftOutDefinition,
  left,
  type ModelDefinitions,
  modelDefinitions,
  selectForModel,
} from "../../manifest/model/definitions.ts";
import { loadTokenizer } from "../../manifest/tokens.ts";
import type { DefinitionsTenant, StoredDefinition } from "../contract.ts";
import { type ChoiceOption, obstacleTo } from "../record.ts";

/** A capability that was found or chosen for the caller. */
interface ChosenCapability extends ChosenName {
  id: string;
  digest: string;
}

interface DefinitionsDeps {
  tenant(key: TenantKey): DefinitionsTenant;
}

/**
 * The definitions of chosen capabilities for a model, in their order. Schemas and flags come from the objects of the
 * tenants, one call each: what was chosen from an index that is behind is left out if it has changed since.
 */
export async function definitionsOf(
  services: DefinitionsDeps,
  principal: Principal,
  chosen: readonly ChosenCapability[],
  format: DefinitionFormat,
  include: readonly ChoiceOption[] = [],
): Promise<ModelDefinitions> {
  const { selected, leftOut } = selectForModel(chosen);
  const stored = await storedDefinitions(services, principal, selected);
  const items = selected.flatMap((item, index) => {
    const found = stored[index];
    const reason = whyNot(item, found);
    if (reason === undefined) return definable(item, found, include);
    leftOut.push(reason);
    return [];
  });
  const made = await modelDefinitions(items, format, loadTokenizer);
  return { ...made, leftOut: [...leftOut, ...made.leftOut] };
}

/** The definitions of items that have been read. */
export async function definitionsOfItems(
  items: readonly DefinableItem[],
  format: DefinitionFormat,
): Promise<ModelDefinitions> {
  const { selected, leftOut } = selectForModel(items);
  const made = await modelDefinitions(selected, format, loadTokenizer);
  return { ...made, leftOut: [...leftOut, ...made.leftOut] };
}

/** In the order of the chosen; undefined where the caller can see no such item any more. */
async function storedDefinitions(
  services: DefinitionsDeps,
  principal: Principal,
  chosen: readonly ChosenCapability[],
): Promise<(StoredDefinition | undefined)[]> {
  const tenants = [...Map.groupBy(chosen, ({ tenant }) => tenantKey(tenant))];
  const found = await Promise.all(
    tenants.map(async ([tenant, items]) => {
      const ids = items.map(({ id }) => id);
      const { items: there } = await services
        .tenant(tenant)
        .definable(ids, { onlyPublic: !isMember(principal, tenant) });
      return there.map((item) => [`${tenant} ${item.id}`, item] as const);
    }),
  );
  const byId = new Map(found.flat());
  return chosen.map(({ tenant, id }) => byId.get(`${tenantKey(tenant)} ${id}`));
}

function whyNot(item: ChosenCapability, found: StoredDefinition | undefined): LeftOutDefinition | undefined {
  if (found === undefined) return left(item, "changed", "It is not there any more; ask again");
  if (found.digest !== item.digest) return left(item, "changed", `It has changed to ${found.digest}; ask again`);
  return found.declared === undefined ? left(item, "schema", "Its definition is too long to be sent") : undefined;
}

function definable(
  { tenant, name }: ChosenCapability,
  found: StoredDefinition | undefined,
  include: readonly ChoiceOption[],
): DefinableItem[] {
  if (found?.declared === undefined) return [];
  const { key: _, declared: text, status, ...known } = found;
  const flags = shownFlags(known.flags);
  const declared = readJson(text) as Record<string, unknown>;
  return [{ ...known, tenant, name, flags, declared, obstacle: obstacleTo({ flags, status }, include) }];
}
