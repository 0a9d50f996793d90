import { canonicalJson } from "../kernel/digest.ts";
import { itemKey } from "./diff.ts";
import type { CapabilityKind } from "./schema/capability.ts";
import { type SectionName, sectionNames, sections } from "./schema/manifest.ts";

/**
 * Where an item of a server came from: a push (PUT, hook or import), `POST …/generators`, or one of its sources. Each
 * way in replaces what came the same way, and nothing else.
 */
export type Origin = "pushed" | "plugin" | `source:${string}`;

export const sourceOrigin = (id: string): Origin => `source:${id}`;

export function isSourceOrigin(origin: Origin): boolean {
  return origin.startsWith("source:");
}

/** How what comes in is combined with what the server has. */
export type Placement =
  /** Replaces what was pushed. With `sections` only in these; then fields that are not named stay too. */
  | { by: "push"; sections?: SectionName[]; includesDisabled?: boolean }
  /** Adds one generator, in place of one of the same type only with `override`. */
  | { by: "plugin"; override: boolean }
  /** Replaces what the sources offered. `offers`: for each item, in order, the id of its source. */
  | { by: "sources"; offers: string[] }
  /** Brings back what was pushed and registered at an earlier revision. */
  | { by: "restore"; digest: string }
  /** The whole manifest with new fields, put together by the object itself. `origins`: of each item, in order. */
  | { by: "version"; origins: Origin[]; fromSources: string[] };

/** An item that the server has. */
export interface PresentItem {
  kind: CapabilityKind;
  key: string;
  digest: string;
  origin: Origin;
  isOff: boolean;
}

/** An item that comes in, with the origin that it would have. */
export interface IncomingItem {
  kind: CapabilityKind;
  key: string;
  digest: string;
  origin: Origin;
}

/** An item that stays though what came in does not name it. Items of sources are not listed: no push replaces them. */
export interface KeptItem {
  kind: CapabilityKind;
  name: string;
  why: "disabled" | "plugin";
}

interface Composition<Present, Incoming> {
  /** In the order in which they are stored. */
  items: { item: Present | Incoming; origin: Origin }[];
  kept: KeptItem[];
  /** Items whose name belongs to an item of another origin. */
  refused: { item: Incoming; owner: Origin }[];
}

/** Combines what comes in with what the server has. */
export function compose<Present extends PresentItem, Incoming extends IncomingItem>(
  present: readonly Present[],
  incoming: readonly Incoming[],
  placement: Placement,
): Composition<Present, Incoming> {
  if (present.length === 0)
    return { items: incoming.map((item) => ({ item, origin: item.origin })), kept: [], refused: [] };
  const owners = new Map(present.map((item) => [itemKey(item), item]));
  const refused: Composition<Present, Incoming>["refused"] = [];
  const accepted = new Map<string, { item: Incoming; origin: Origin }>();
  for (const item of incoming) {
    const owner = owners.get(itemKey(item));
    const origin = originOf(item, owner, placement);
    if (origin !== undefined) accepted.set(itemKey(item), { item, origin });
    else if (owner !== undefined && owner.digest !== item.digest) refused.push({ item, owner: owner.origin });
  }
  const kept: KeptItem[] = [];
  const retained = present.filter((item) => {
    if (accepted.has(itemKey(item))) return false;
    const why = staysFor(item, placement);
    if (why === "disabled" || why === "plugin") kept.push({ kind: item.kind, name: item.key, why });
    return why !== undefined;
  });
  return { items: inOrder(present, retained, accepted), kept, refused };
}

/** The origin of an item that comes in; undefined if its name belongs to an item that it may not replace. */
function originOf(item: IncomingItem, owner: PresentItem | undefined, placement: Placement): Origin | undefined {
  if (owner === undefined || owner.origin === item.origin) return item.origin;
  if (placement.by === "sources") return isSourceOrigin(owner.origin) ? item.origin : undefined;
  // What an answer shows can be sent back without changing whose it is.
  if (owner.digest === item.digest && placement.by !== "plugin") return owner.origin;
  return isSourceOrigin(owner.origin) ? undefined : item.origin;
}

/** Why an item stays that what comes in does not replace; undefined if it goes. */
function staysFor({ kind, origin, isOff }: PresentItem, placement: Placement): "other" | KeptItem["why"] | undefined {
  if (placement.by === "plugin") return "other";
  if (placement.by === "sources") return isSourceOrigin(origin) ? undefined : "other";
  if (isSourceOrigin(origin)) return "other";
  const sawDisabled = placement.by === "push" && placement.includesDisabled === true;
  const inScope = placement.by !== "push" || (placement.sections?.some((name) => sections[name].kind === kind) ?? true);
  if (!inScope) return "other";
  if (isOff) return sawDisabled ? undefined : "disabled";
  return origin === "plugin" ? "plugin" : undefined;
}

/**
 * The accepted items in their own order, and each retained one behind the item that it was behind. Composing the same
 * items again changes nothing.
 */
function inOrder<Present extends PresentItem, Incoming extends IncomingItem>(
  present: readonly Present[],
  retained: readonly Present[],
  accepted: ReadonlyMap<string, { item: Incoming; origin: Origin }>,
): Composition<Present, Incoming>["items"] {
  const stays = new Set(retained.map(itemKey));
  const behind = new Map<string, Composition<Present, Incoming>["items"]>();
  const anchors = new Map<CapabilityKind, string>();
  for (const item of present) {
    const key = itemKey(item);
    const anchor = anchors.get(item.kind) ?? item.kind;
    if (accepted.has(key)) anchors.set(item.kind, key);
    if (!stays.has(key)) continue;
    const list = behind.get(anchor);
    if (list === undefined) behind.set(anchor, [{ item, origin: item.origin }]);
    else list.push({ item, origin: item.origin });
  }
  const lists = Map.groupBy(accepted, ([, { item }]) => item.kind);
  return sectionNames.flatMap((section) => {
    const { kind } = sections[section];
    const own = lists.get(kind) ?? [];
    return [...(behind.get(kind) ?? []), ...own.flatMap(([key, placed]) => [placed, ...(behind.get(key) ?? [])])];
  });
}

/** The fields of a manifest, and which of them came from sources. */
export interface ComposedHeader {
  header: Record<string, unknown>;
  fromSources: string[];
}

/** Combines fields as `compose` does items. */
export function composeHeader(
  present: ComposedHeader,
  incoming: Record<string, unknown>,
  placement: Placement,
): ComposedHeader {
  const { header, fromSources } = present;
  if (placement.by === "plugin") return present;
  if (placement.by === "version") return { header: incoming, fromSources: placement.fromSources };
  if (placement.by === "sources") {
    const own = Object.fromEntries(Object.entries(header).filter(([key]) => !fromSources.includes(key)));
    const read = Object.keys(incoming).filter((key) => !Object.hasOwn(own, key));
    return { header: { ...incoming, ...own }, fromSources: read };
  }
  const keepsOthers = placement.by === "push" && placement.sections !== undefined;
  const stays = Object.entries(header).filter(([key]) => keepsOthers || fromSources.includes(key));
  const isSame = (key: string) => canonicalJson(incoming[key]) === canonicalJson(header[key]);
  return {
    header: { ...Object.fromEntries(stays), ...incoming },
    fromSources: fromSources.filter((key) => !Object.hasOwn(incoming, key) || isSame(key)),
  };
}
