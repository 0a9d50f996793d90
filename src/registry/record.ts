import { deprecationOf } from "../manifest/deprecation.ts";
import { type CapabilityFlag, type Flag, isHigh, shownFlags } from "../manifest/flag.ts";
import type { StoredCapability } from "../manifest/stored.ts";
import type { DirectoryEntry, Head } from "./contract.ts";
import type { ItemRecord, RegistryRecord } from "./record-schema.ts";
import { isSourcePending, isSourceStale, type ReadState } from "./sources/warnings.ts";

/**
 * The record: what the registry knows of an item or a server. Every surface that shows one shows its record, made here
 * from what is stored beside items, cards, heads and rows of the directory.
 */

/** What holds for a server and all its items. */
export interface ServerFacts extends Omit<RegistryRecord, "tokens" | "flags"> {
  /** About the message of the status, which every item shows. */
  statusFlags?: readonly CapabilityFlag[];
}

/** What holds for one item, whatever its server. */
export interface ItemFacts {
  tokens: number;
  flags: readonly Flag[];
  /** Set if the item is deprecated: what it says about that, which may be nothing. */
  deprecated?: string;
}

export function recordOf({ tokens, flags, deprecated }: ItemFacts, server: ServerFacts): RegistryRecord {
  const { status, statusMessage, stale, pending, statusFlags = [] } = server;
  const isAlone = deprecated !== undefined && status === "active";
  const all = statusFlags.length === 0 ? flags : [...flags, ...statusFlags];
  return {
    tokens,
    flags: all.length === 0 ? [] : shownFlags(all),
    status: isAlone ? "deprecated" : status,
    statusMessage: isAlone ? deprecated || undefined : statusMessage,
    stale,
    pending,
  };
}

export function factsOf(head: FactsHead): ServerFacts {
  const { status, statusMessage, sources = [] } = head;
  return { status, statusMessage, ...sourceFacts(sources), statusFlags: statusFlagsIn(serverFlags(head)) };
}

type FactsHead = Pick<Head, "status" | "statusMessage" | "sources" | "flags" | "acknowledged" | "digest">;

/** Of the flags of a server, those about the message of its status. */
export function statusFlagsIn(flags: readonly CapabilityFlag[]): CapabilityFlag[] | undefined {
  const found = flags.filter(({ of, path }) => of === "config" && path === "/statusMessage");
  return found.length === 0 ? undefined : found;
}

export function sourceFacts(sources: ReadState[]): Pick<ServerFacts, "stale" | "pending"> {
  return {
    stale: isSourceStale({ sources }) ? true : undefined,
    pending: isSourcePending({ sources }) ? "source" : undefined,
  };
}

/** Returns the function that makes the record of each item of a server. */
export function itemRecords(head: FactsHead): (item: StoredCapability) => ItemRecord {
  const server = factsOf(head);
  const flagsOf = itemFlagsIn(head);
  return (item) => {
    const { id, digest, tokens, declared } = item;
    const deprecated = deprecationOf(declared);
    return { id, digest, ...recordOf({ tokens, flags: flagsOf(item), deprecated }, server) };
  };
}

/** Returns the function that gives all flags of an item: of its content, and of its place among the tenant's servers. */
export function itemFlagsIn(
  head: Pick<Head, "flags" | "acknowledged">,
): (item: Pick<StoredCapability, "id" | "digest" | "flags">) => Flag[] {
  const ofItems = Map.groupBy(head.flags, ({ capability }) => capability ?? "");
  return ({ id, digest, flags }) => {
    const others = [...(ofItems.get(id) ?? []), ...(ofItems.get(everyItem) ?? [])];
    if (flags.length === 0 && others.length === 0) return [];
    const all = [...flags, ...others.map(({ capability: _, ...flag }) => flag)];
    return withAcknowledged(all, digest, head.acknowledged);
  };
}

/** Flags about the server's own texts: its manifest's fields and its config. */
export function serverFlags({ flags, acknowledged, digest }: ServerFlagsHead): CapabilityFlag[] {
  const own = flags.filter(({ capability }) => capability === undefined);
  return withAcknowledged(own, digest ?? "", acknowledged);
}

type ServerFlagsHead = Pick<Head, "flags" | "acknowledged" | "digest">;

export function serverRecord(head: FactsHead, tokens: number): RegistryRecord {
  return recordOf({ tokens, flags: serverFlags(head) }, { ...factsOf(head), statusFlags: undefined });
}

/** The record of a row of the directory. */
export function entryRecord({ tokens = 0, flags = [], ...facts }: EntryFacts): RegistryRecord {
  return recordOf({ tokens, flags }, facts);
}

type EntryFacts = Pick<DirectoryEntry, "tokens" | "flags" | "status" | "statusMessage" | "stale" | "pending">;

/** Stands for every item of a server, where a flag cannot name them all. */
export const everyItem = "*";

/**
 * An acknowledgement belongs to content and to what the flag said of it: other content under the same name is flagged anew,
 * and so is the same content where the flag now names another tool.
 */
function withAcknowledged<T extends CapabilityFlag>(
  flags: readonly T[],
  digest: string,
  acknowledged: Head["acknowledged"] = [],
): T[] {
  if (acknowledged.length === 0) return [...flags];
  return flags.map((flag) => {
    const found = acknowledged.find(
      ({ rule, path, message, of, digest: content }) =>
        rule === flag.rule &&
        path === flag.path &&
        message === flag.message &&
        of === flag.of &&
        (of === "config" || content === digest),
    );
    return found === undefined ? flag : { ...flag, acknowledged: { by: found.by, at: found.at } };
  });
}

/** What choices made for an agent leave out unless they are asked to include it. */
export const choiceOptions = ["flagged", "withdrawn"] as const;
export type ChoiceOption = (typeof choiceOptions)[number];

interface Obstacle {
  reason: ChoiceOption;
  message: string;
}

/**
 * Why a choice leaves an item out; undefined if it may be chosen. The message quotes nothing that was published: whoever
 * asks for a choice must not be given the text that the flag is about.
 */
export function obstacleTo(
  { flags, status }: Pick<RegistryRecord, "flags" | "status">,
  include: readonly ChoiceOption[] = [],
): Obstacle | undefined {
  if (status === "withdrawn" && !include.includes("withdrawn")) {
    return {
      reason: "withdrawn",
      message: 'Its publisher withdrew the server; include "withdrawn" takes it all the same',
    };
  }
  if (flags.length === 0) return undefined;
  const rules = [...new Set(flags.filter(isHigh).map(({ rule }) => rule))];
  if (rules.length === 0 || include.includes("flagged")) return undefined;
  return {
    reason: "flagged",
    message: `Its text is flagged: ${rules.join(", ")}; include "flagged" takes it all the same`,
  };
}

/** How far a ranking puts an item behind others: 0 not at all, 1 deprecated, 2 left out of choices. */
export type Demotion = 0 | 1 | 2;

export function demotionOf(record: Pick<RegistryRecord, "flags" | "status">): Demotion {
  if (obstacleTo(record) !== undefined) return 2;
  return record.status === "deprecated" ? 1 : 0;
}
