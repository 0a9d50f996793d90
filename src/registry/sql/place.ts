import { digestOfTextSync } from "../../kernel/digest.ts";
import { type Failure, failure, type IdCollision } from "../../kernel/failure.ts";
import type { Issue } from "../../kernel/issue.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { attributesOf } from "../../manifest/attributes.ts";
import {
  compose,
  composeHeader,
  isSourceOrigin,
  type KeptItem,
  type Origin,
  type Placement,
  type PresentItem,
  sourceOrigin,
} from "../../manifest/compose.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import { itemKey } from "../../manifest/diff.ts";
import type { CapabilityFlag } from "../../manifest/flag.ts";
import { refused } from "../../manifest/intake/intake.ts";
import type { AcceptedManifest, PreparedCapability, Rejection } from "../../manifest/prepare.ts";
import { scanCapability } from "../../manifest/scan.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { sectionForKind } from "../../manifest/schema/manifest.ts";
import { canonicalManifest } from "../../manifest/stored.ts";
import { idCollisions } from "./items.ts";
import { type RevisionContent, revisionOfDigest } from "./revisions.ts";
import { sourceRows, unseenSources } from "./source-rows.ts";

/** What a server has before a write. */
export interface ServerState {
  name: string;
  /** Its current revision; undefined if it has published nothing, or is not live. */
  previous: RevisionContent | undefined;
  /** Kind and digest of each item of the current revision. */
  was: ReadonlySet<string>;
  /** Keys of its switched-off items. */
  off: ReadonlySet<string>;
  /** Ids of the sources that the registry reads for it. */
  sources: () => readonly string[];
}

/** What comes in: a manifest and the way it came. */
export interface Submission {
  manifest: AcceptedManifest;
  placement: Placement;
  partial: boolean;
}

/** An item of the manifest that will be stored. */
export type PlacedItem = Pick<PreparedCapability, "kind" | "key" | "id" | "digest" | "tokens" | "text" | "attributes">;

/** The manifest that will be stored: what came in, and what stays of what the server has. */
export interface PlacedManifest {
  digest: string;
  header: Record<string, unknown>;
  fromSources: string[];
  items: PlacedItem[];
  /** Of each item, in order; empty if all were pushed. */
  origins: Origin[];
  /** The items that came in and are stored. */
  incoming: PreparedCapability[];
  flags: CapabilityFlag[];
  kept: KeptItem[];
  rejected: Rejection[];
  collisions: IdCollision[];
}

/**
 * Combines a manifest with what the server has, and judges it by what the tenant has: names of sources, ids of other
 * servers, and whether anything is left. Runs inside the transaction of the write.
 */
export function placeManifest(
  sql: SqlStorage,
  state: ServerState,
  submission: Submission,
): Result<PlacedManifest, Failure> {
  const { manifest, placement, partial } = submission;
  const present = presentItems(sql, state, placement);
  const whole = present.length === 0 ? placeWhole(sql, state, submission) : undefined;
  if (whole !== undefined) return ok(whole);
  const came = incomingItems(sql, state, submission);
  if (!came.ok) return came;
  const taken = new Map(present.map((item) => [itemKey(item), item]));
  const [first] = came.value.items;
  if (placement.by === "plugin" && !placement.override && first !== undefined && taken.has(itemKey(first.item))) {
    const message = `A generator ${first.item.key} is registered already; ?override=true replaces it`;
    return err(failure("ErrorGeneratorExists", message));
  }

  const entries = came.value.items.map(entryOf);
  const tried = compose(present, entries, placement);
  const unseen = tried.refused.length === 0 ? [] : unseenSources(sourceRows(sql, state.name)).map(sourceOrigin);
  const owned = tried.refused.map(({ item, owner }) =>
    rejection(item.item, "owned", ownedMessage(owner, unseen.includes(owner))),
  );
  if (owned.length > 0 && !partial) return err(refused(owned.flatMap(({ issues }) => issues)));
  const collisions = collisionsOf(sql, state, tried.items);
  if (collisions.length > 0 && !partial) return err(collisionFailure(collisions));
  const colliding = new Map(collisions.map((collision) => [collision.item, collision]));
  const composed =
    collisions.length === 0
      ? tried
      : compose(
          present,
          entries.filter((item) => !colliding.has(itemKey(item))),
          placement,
        );
  const rejected = [
    ...owned,
    ...entries.flatMap((entry) => {
      const collision = colliding.get(itemKey(entry));
      const message = `id ${collision?.id} is already used by ${collision?.takenBy}`;
      return collision === undefined ? [] : [rejection(entry.item, "id-taken", message)];
    }),
  ];
  const accepted = composed.items.flatMap(({ item }) => ("item" in item ? [item] : []));
  const lost = nothingLeft(submission, entries, accepted, rejected);
  if (lost !== undefined) return err(lost);

  const { header, fromSources } = composeHeader(headerState(state), came.value.header, placement);
  const items = composed.items.map(({ item }): PlacedItem => ("item" in item ? item.item : item.stored()));
  const { capabilities } = manifest;
  const hasSameItems = items.length === capabilities.length && items.every((item, at) => item === capabilities[at]);
  const hasSameHeader = isSameHeader(header, manifest.header);
  return ok({
    digest: hasSameItems && hasSameHeader ? manifest.digest : digestOfTextSync(canonicalManifest(header, items)),
    ...{ header, fromSources, items, rejected, collisions },
    origins: composed.items.map(({ origin }) => origin),
    incoming: accepted.map(({ item }) => item),
    flags: hasSameHeader ? manifest.flags : [...headerFlags(state.name, header), ...itemFlags(manifest.flags)],
    kept: composed.kept,
  });
}

/**
 * The same for a push of which everything is stored and beside which nothing stays, as most are; undefined if this is
 * none. `origins` is empty: everything is pushed.
 */
function placeWhole(sql: SqlStorage, state: ServerState, { manifest, placement }: Submission) {
  const { header, capabilities: items, digest, flags } = manifest;
  if (placement.by !== "push" || placement.sections !== undefined || items.length === 0) return undefined;
  if (state.previous !== undefined && state.previous.origins.fromSources.length > 0) return undefined;
  const added = items.filter(({ kind, digest: version }) => !state.was.has(`${kind} ${version}`));
  if (idCollisions(sql, state.name, added).length > 0) return undefined;
  const nothing = { fromSources: [], origins: [], kept: [], rejected: [], collisions: [] };
  return { digest, header, flags, items, incoming: items, ...nothing };
}

/** An item that comes in, as `compose` needs it. */
interface Entry {
  kind: CapabilityKind;
  key: string;
  digest: string;
  origin: Origin;
  item: PreparedCapability;
}

function entryOf({ item, origin }: Came["items"][number]): Entry {
  const { kind, key, digest } = item;
  return { kind, key, digest, origin, item };
}

/** Without looking into the values: fields that were only passed on are the same values. */
function isSameHeader(header: Record<string, unknown>, sent: Record<string, unknown>): boolean {
  const keys = Object.keys(header);
  return keys.length === Object.keys(sent).length && keys.every((key) => header[key] === sent[key]);
}

/** A row of the server, read whole only if it stays. */
interface Present extends PresentItem {
  id: string;
  stored: () => PlacedItem;
}

type Row = { kind: CapabilityKind; key: string; digest: string; id: string; tokens: number; declared: string };

/**
 * The server's items, where a write could leave some of them in place. Most servers have only pushed items, all
 * switched on: then a push replaces them whatever they are.
 */
function presentItems(sql: SqlStorage, { name, previous, off, sources }: ServerState, placement: Placement): Present[] {
  if (previous === undefined || previous.layout.length === 0 || placement.by === "version") return [];
  const { layout, origins } = previous;
  const isWhole = placement.by === "restore" || (placement.by === "push" && placement.sections === undefined);
  const hasOnlyPushed = origins.isAllPushed;
  if (isWhole && hasOnlyPushed && off.size === 0) return [];
  if (placement.by === "sources" && origins.isAllFromSources) return [];
  const rows = new Map<string, Row>();
  const current = sql.exec<Row>(
    `SELECT kind, key, digest, id, tokens, declared FROM capability INDEXED BY capability_current
     WHERE server = ? AND last_revision IS NULL`,
    name,
  );
  for (const row of current) rows.set(`${row.kind} ${row.digest}`, row);
  const configured = new Set(sources().map(sourceOrigin));
  return layout.flatMap(([kind, digest], at): Present[] => {
    const row = rows.get(`${kind} ${digest}`);
    if (row === undefined) return [];
    const { key, id, tokens, declared: text } = row;
    const origin = origins.of(at);
    // What a source offered that is no longer configured belongs to nobody but the publisher.
    const isOrphan = isSourceOrigin(origin) && !configured.has(origin);
    const attributes = () => attributesOf(readJson(text) as Record<string, unknown>);
    return [
      {
        ...{ kind, key, digest, id, isOff: off.has(itemKey({ kind, key })) },
        origin: isOrphan && placement.by !== "sources" ? "pushed" : origin,
        stored: () => ({ kind, key, id, digest, tokens, text, attributes: attributes() }),
      },
    ];
  });
}

interface Came {
  items: { item: PreparedCapability; origin: Origin }[];
  header: Record<string, unknown>;
}

/** The items that come in, with the origin that each would have. */
function incomingItems(
  sql: SqlStorage,
  { name }: ServerState,
  { manifest, placement }: Submission,
): Result<Came, Failure> {
  const { capabilities, header } = manifest;
  switch (placement.by) {
    case "push":
      return ok({ header, items: capabilities.map((item) => ({ item, origin: "pushed" })) });
    case "plugin":
      return ok({ header, items: capabilities.map((item) => ({ item, origin: "plugin" })) });
    case "sources":
      return ok({
        header,
        items: capabilities.map((item, at) => ({ item, origin: sourceOrigin(placement.offers[at] ?? "") })),
      });
    case "version":
      return ok({
        header,
        items: capabilities.map((item, at) => ({ item, origin: placement.origins[at] ?? "pushed" })),
      });
    case "restore": {
      const revision = revisionOfDigest(sql, name, placement.digest);
      if (revision === undefined) return err(failure("ErrorRevisionNotFound"));
      return ok(restored(revision, manifest));
    }
  }
}

/** Of an earlier revision what was pushed or registered: what its sources offered then is not theirs to offer now. */
function restored({ layout, origins }: RevisionContent, { capabilities, header }: AcceptedManifest): Came {
  // By place, not by digest: an item that was stored under earlier rules may be read a little differently now.
  const then = new Map<string, Origin>();
  const counts = new Map<CapabilityKind, number>();
  for (const [at, [kind]] of layout.entries()) {
    const index = counts.get(kind) ?? 0;
    counts.set(kind, index + 1);
    then.set(`/${sectionForKind(kind)}/${index}`, origins.of(at));
  }
  const items = capabilities.flatMap((item): Came["items"] => {
    const origin = then.get(item.path) ?? "pushed";
    return isSourceOrigin(origin) ? [] : [{ item, origin }];
  });
  if (origins.fromSources.length === 0) return { items, header };
  const own = Object.entries(header).filter(([key]) => !origins.fromSources.includes(key));
  return { items, header: Object.fromEntries(own) };
}

function headerState({ previous, sources }: ServerState) {
  const { header = {}, origins } = previous ?? {};
  const fromSources = origins?.fromSources ?? [];
  return { header, fromSources: fromSources.length === 0 || sources().length === 0 ? [] : fromSources };
}

/** Ids of items that come in and belong to other items, of this server or of another. */
function collisionsOf(
  sql: SqlStorage,
  { name, was }: ServerState,
  items: readonly { item: Present | Entry }[],
): IdCollision[] {
  const staying = new Map<string, Present>();
  const added: PreparedCapability[] = [];
  for (const { item } of items) {
    if (!("item" in item)) staying.set(item.id, item);
    else if (!was.has(`${item.item.kind} ${item.item.digest}`)) added.push(item.item);
  }
  const own = added.flatMap((item): IdCollision[] => {
    const other = staying.get(item.id);
    return other === undefined ? [] : [{ id: item.id, item: itemKey(item), takenBy: `${itemKey(other)} of ${name}` }];
  });
  return [...own, ...idCollisions(sql, name, added)];
}

function collisionFailure(collisions: IdCollision[]): Failure {
  const [first] = collisions;
  const message = `Capability id ${first?.id} (${first?.item}) is already used by ${first?.takenBy}. Ids are unique per tenant: set another \`id\``;
  return failure("ErrorCapabilityCollision", message, { collisions });
}

/** `isHidden`: the item is not shown, because its source has another address now. */
function ownedMessage(owner: Origin, isHidden: boolean): string {
  if (owner === "pushed" || owner === "plugin") {
    const how = owner === "pushed" ? "a push" : "a registration";
    return `is the name of an item that came with ${how} and has other content; remove that one first`;
  }
  const id = JSON.stringify(owner.slice("source:".length));
  const what = isHidden
    ? "offered at its former address, and which is hidden until the new one was read"
    : "offers with other content";
  return `is the name of an item that source ${id} ${what}; rename it, or remove the source`;
}

function rejection({ path, key }: Pick<PreparedCapability, "path" | "key">, rule: string, message: string): Rejection {
  const issue: Issue = { path, rule, message };
  return { path, name: key.slice(0, 256), issues: [issue] };
}

/** Why nothing may change: every item was refused, of the whole document or of one source, or there was none. */
function nothingLeft(
  { manifest, placement }: Submission,
  entries: readonly Entry[],
  accepted: readonly Entry[],
  rejected: readonly Rejection[],
): Failure | undefined {
  const issues = rejected.flatMap((one) => one.issues).slice(0, 100);
  if (placement.by === "sources") {
    const offering = new Set(placement.offers);
    const left = new Set(accepted.map(({ origin }) => origin));
    const sources = [...offering].filter((id) => !left.has(sourceOrigin(id)));
    return sources.length === 0 ? undefined : refused(issues, { sources });
  }
  if (accepted.length > 0) return undefined;
  // A revision may have had nothing but what its sources offered.
  const wanted = placement.by === "restore" ? entries.length : manifest.offered;
  if (wanted > 0) {
    const message = "MCP server validation failed: every item was refused, so nothing was published";
    return failure("ErrorMCPServerValidation", message, { issues });
  }
  if (placement.by !== "push" || placement.sections === undefined) return undefined;
  return refused([
    { path: "", rule: "no-items", message: "the document has nothing to import, so nothing was changed" },
  ]);
}

function headerFlags(server: string, header: Record<string, unknown>): CapabilityFlag[] {
  return boundedFlags(scanCapability({ kind: "server", name: server, declared: header }), flagsPerItem);
}

function itemFlags(flags: readonly CapabilityFlag[]): CapabilityFlag[] {
  return flags.filter(({ capability }) => capability !== undefined);
}
