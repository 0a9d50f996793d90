import { meetsPrecondition } from "../../../kernel/etag.ts";
import { type Failure, failure } from "../../../kernel/failure.ts";
import type { Steps } from "../../../kernel/pace/pace.ts";
import { readJson } from "../../../kernel/read-json.ts";
import { err, ok, type Result } from "../../../kernel/result.ts";
import type { NewChange } from "../../../manifest/diff.ts";
import type { CapabilityFlag, Flag } from "../../../manifest/flag.ts";
import { refused } from "../../../manifest/intake/intake.ts";
import { ownSectionsIssues } from "../../../manifest/intake/sections.ts";
import type { PreparedCapability } from "../../../manifest/prepare.ts";
import type { PublishRequest, Switch } from "../../contract.ts";
import { itemFlagsIn } from "../../record.ts";
import type { ServerConfig } from "../../schema.ts";
import { acknowledgedFlags } from "../acknowledged.ts";
import type { LoggedChange } from "../change-log.ts";
import { neighbourFlags } from "../items.ts";
import type { WriteContext } from "../listener.ts";
import { withRecords } from "../log/change-records.ts";
import { type PlacedManifest, placeManifest } from "../place.ts";
import { type RevisionContent, revisionAt } from "../revisions.ts";
import { findRow, type ServerRow, tagOf } from "../servers.ts";
import { readableRows } from "../source-rows.ts";
import { checkDisabledSize, switchedOff } from "../switches.ts";
import { type Difference, differenceSteps, headerChange, unannouncedChange } from "./difference.ts";

/** What a publish will do. */
export type Judgement = UnchangedManifest | ManifestMove;

/** The server has this manifest. */
export interface UnchangedManifest {
  isMove: false;
  live: ServerRow;
  /** Undefined if the manifest was the same before it was combined with what the server has. */
  placed: PlacedManifest | undefined;
}

export interface ManifestMove {
  isMove: true;
  row: ServerRow | undefined;
  live: ServerRow | undefined;
  previous: RevisionContent | undefined;
  placed: PlacedManifest;
  found: Difference;
  /** Names of the tools that the server will have. */
  own: ReadonlySet<string>;
  /** Flags of the server; the flags of its items are added later. */
  flags: CapabilityFlag[];
  /** Flags that depend on the tenant's other servers. */
  neighbours: CapabilityFlag[];
  flagsOf: (item: PreparedCapability) => readonly Flag[];
  ofHeader: NewChange | undefined;
  /** Changes for the log, but for items that are switched. */
  changes: LoggedChange[];
}

/**
 * Judges a publish by what the server and its tenant have, in steps. Only reads, so that a large publish can be judged
 * outside of a transaction: the judgement holds as long as the tenant's generation stays the same.
 */
export function* judgeSteps(write: WriteContext, request: PublishRequest): Steps<Result<Judgement, Failure>> {
  const { sql } = write;
  const { name, manifest, precondition, placement } = request;
  const row = findRow(sql, name);
  const live = row?.deleted_at === null ? row : undefined;
  if (live === undefined && (placement.by === "plugin" || placement.by === "restore")) {
    return err(failure("ErrorMCPServerNotFound"));
  }
  if (precondition !== undefined && !meetsPrecondition(precondition, live && tagOf(live))) {
    return err(staleFailure(live?.digest));
  }
  const tooManyDisabled = checkDisabledSize(sql, name, switchesOf(manifest.capabilities));
  if (tooManyDisabled !== undefined) return err(tooManyDisabled);
  // The same items and fields: whose they are does not change. A document without items may be one that lost them all.
  if (live?.digest === manifest.digest && manifest.capabilities.length > 0)
    return ok({ isMove: false, live, placed: undefined });

  // A server that is not live, or has published nothing since it was registered, has no previous revision, even if
  // older ones exist under its name.
  const previous = live?.digest ? revisionAt(sql, name, live.revision) : undefined;
  const { sections, confirmed } = manifest.intake;
  const server = { hasItems: (previous?.layout.length ?? 0) > 0, header: previous?.header ?? {} };
  const misread = placement.by === "push" ? ownSectionsIssues(sections, confirmed, server) : [];
  if (misread.length > 0) return err(refused(misread));

  const state = {
    name,
    previous,
    was: new Set(previous?.layout.map(([kind, digest]) => `${kind} ${digest}`)),
    off: switchedOff(sql, name),
    sources: () => readableRows(sql, name).map(({ id }) => id),
  };
  const placing = placeManifest(sql, state, request);
  if (!placing.ok) return placing;
  const placed = placing.value;
  const { capabilities } = write.keep;
  if (placed.items.length > capabilities) {
    const message = `A server holds at most ${capabilities} capabilities; with what stays of it this one would have ${placed.items.length}`;
    return err(failure("ErrorTooLarge", message));
  }
  if (live?.digest === placed.digest) return ok({ isMove: false, live, placed });
  yield placed.items.length;

  const found = yield* differenceSteps(sql, name, { layout: previous?.layout ?? [], was: state.was }, placed);
  const isFirst = request.isFirstIntrospection === true && previous?.layout.length === 0;
  const isJudged = !isFirst && request.ofSettings === undefined;
  const unannounced = previous && isJudged && unannouncedChange(previous.header, placed.header, found.changes);
  if (unannounced && policyOf(live) === "refuse") {
    const next = placed.header.version === undefined ? "Add or raise" : "Raise";
    const message = `${capitalized(unannounced)}, which this server's policy refuses. ${next} \`version\``;
    return err(failure("ErrorSameVersion", message, { current: live?.digest }));
  }
  const flags: CapabilityFlag[] = [...placed.flags];
  if (unannounced) flags.push({ rule: "same-version", path: "/version", message: unannounced });
  const own = new Set(placed.items.flatMap(({ kind, key }) => (kind === "tool" ? [key] : [])));
  const neighbours = neighbourFlags(sql, name, found.added, own);
  yield unitsPerAdded * found.added.length;
  const flagsOf = itemFlagsIn({ flags: neighbours, acknowledged: acknowledgedFlags(sql, name) });
  const recorded = withRecords(found.changes, found.added, flagsOf, configOf(live));
  yield unitsPerAdded * found.added.length;
  const ofHeader = headerChange(name, previous, placed, found.changes.length > 0);
  const changes = ofHeader === undefined ? recorded : [...recorded, ofHeader];
  return ok({
    isMove: true,
    ...{ row, live, previous, placed, found, own, flags, neighbours, flagsOf, ofHeader, changes },
  });
}

/** Looking for neighbours, or making a record. */
const unitsPerAdded = 10;

/**
 * `enabled: false` in a manifest switches an item off. `true` is ignored: every response contains it, so republishing
 * an old response would undo what an operator has switched off since.
 */
export function switchesOf(capabilities: readonly PreparedCapability[]): Switch[] {
  return capabilities.flatMap(({ kind, key, enabled }) => (enabled === false ? [{ kind, key, enabled }] : []));
}

function policyOf(row: ServerRow | undefined): "flag" | "refuse" {
  return configOf(row)?.policy?.sameVersion === "refuse" ? "refuse" : "flag";
}

function configOf(row: ServerRow | undefined): ServerConfig | undefined {
  return row && (readJson(row.config) as ServerConfig);
}

/** The failure of an If-Match that does not hold; `current` is the digest that the server has now. */
export function staleFailure(current: string | null | undefined): Failure {
  if (current == null) return failure("ErrorPreconditionFailed");
  const message = `If-Match does not match: the server is now at ${current}. Read it again, then retry`;
  return failure("ErrorPreconditionFailed", message, { current });
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
