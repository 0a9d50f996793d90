import type { Bounds } from "../../kernel/bounds.ts";
import { canonicalJson, digestOfTextSteps } from "../../kernel/digest.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import type { LogChange } from "../../manifest/diff.ts";
import { scanCapability } from "../../manifest/scan.ts";
import { canonicalManifest } from "../../manifest/stored.ts";
import type { PublishRequest } from "../../registry/contract.ts";
import { ServerConfig } from "../../registry/schema.ts";
import { generationOf, recordChanges } from "../../registry/sql/change-log.ts";
import { followSources } from "../../registry/sql/follow-sources.ts";
import type { WriteContext } from "../../registry/sql/listener.ts";
import { LargePublishError, mostJudgedAtOnce } from "../../registry/sql/publish/stage.ts";
import { publish } from "../../registry/sql/publish.ts";
import { type RevisionContent, revisionAt, storedItemSteps } from "../../registry/sql/revisions.ts";
import { bumpOverlay, findLive, findRow, setConfig } from "../../registry/sql/servers.ts";
import { makePublic } from "../../registry/sql/settings.ts";
import { setServerStatus } from "../../registry/sql/status.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { ServerVersion, VersionOutcome, VersionRequest } from "../contract.ts";
import type { ServerJson } from "../schema.ts";
import { isRemoteSource, manifestFields, remoteSources, serverJsonFields } from "../server-json.ts";
import { latestOf } from "../version-order.ts";
import {
  findVersion,
  forgetStatusBefore,
  insertVersion,
  listVersions,
  updateLatest,
  versionsSize,
} from "./tenant-versions.ts";

/** Context of a change to a server's versions. */
export interface VersionContext {
  sql: SqlStorage;
  write: WriteContext;
  at: string;
  /** The generation before what was staged for this write; undefined if nothing was. */
  since?: number;
  subject: string;
  bounds: Bounds;
  /** True if the registry may read this remote. */
  isAllowedUrl: (url: string) => boolean;
}

/**
 * Adds a version to a server and creates the server if it does not exist. Runs inside a transaction. A version that is
 * the latest when it is published defines the server: its fields go into the manifest's header, its remotes become
 * sources, and the server is active, also if it was deprecated or withdrawn.
 */
export function publishVersion(
  work: VersionContext,
  { name, document }: VersionRequest,
): Result<VersionOutcome, Failure> {
  const { sql, at, subject, bounds } = work;
  const { version } = document;
  const error = checkPrivate(work, name);
  if (error !== undefined) return err(error);
  if (findVersion(sql, name, version) !== undefined) {
    const message = `invalid version: cannot publish a duplicate version. ${document.name} ${version} exists; publish a higher version`;
    return err(failure("ErrorVersionExists", message));
  }
  const text = JSON.stringify(document);
  const size = versionsSize(sql, name);
  if (size.count >= bounds.versions || size.bytes + 2 * text.length > bounds.versionsBytes) {
    const message = `${document.name} has the maximum of ${bounds.versions} versions or ${bounds.versionsBytes} bytes of server.json`;
    return err(failure("ErrorTooManyVersions", message));
  }
  const before = listVersions(sql, name);
  const published = { version, status: "active" as const, sequence: Number.MAX_SAFE_INTEGER };
  const isLatest =
    latestOf<{ version: string; status: ServerVersion["status"]; sequence: number }>([...before, published]) ===
    published;
  const message = `version ${version} was published`;
  const moved = isLatest
    ? applyLatestVersion(work, name, document, message)
    : ok(logVersionChange(work, name, message, "cosmetic"));
  if (!moved.ok) return moved;
  const generation = moved.value;
  insertVersion(sql, { server: name, version, document: text, at, subject, generation });
  // Versions that a withdrawal deleted stay deleted: the new one alone was published.
  if (isLatest) forgetStatusBefore(sql, name);
  updateLatest(sql, name, at, generation);
  if (isLatest) setServerStatus(work.write, name, { status: "active" }, { at, generation });
  const added = findVersion(sql, name, version);
  return ok({ generation, versions: added === undefined ? [] : [added] });
}

/** Refuses to change the versions of a private server, because publishing would make it public. */
export function checkPrivate({ sql }: VersionContext, name: string): Failure | undefined {
  const row = findLive(sql, name);
  if (row === undefined || row.visibility === "public") return undefined;
  const message = `${shownTenant(sql)}/${name} is private; /v0.1 publishes publicly. First set \`visibility: "public"\` (PUT /api/mcp/configs)`;
  return failure("ErrorServerPrivate", message);
}

/** Logs a version change that leaves manifest and settings unchanged. Returns its generation. */
export function logVersionChange(
  { sql, at, bounds }: VersionContext,
  name: string,
  message: string,
  classification: "cosmetic" | "advisory",
): number {
  const reasons = [{ path: "/version", classification, message }];
  const change: LogChange = { kind: "server", key: name, classification, reasons };
  const { generation } = recordChanges(sql, name, at, [change], bounds.changes);
  bumpOverlay(sql, name, generation, at);
  return generation;
}

/**
 * Makes a version define its server: its fields go into the manifest's header, its remotes become sources. Capabilities
 * stay. All changes share one generation, which is returned.
 */
function applyLatestVersion(
  work: VersionContext,
  name: string,
  document: ServerJson,
  message: string,
): Result<number, Failure> {
  const { sql, at, subject } = work;
  const before = work.since ?? generationOf(sql);
  const row = findRow(sql, name);
  const last = row?.digest ? revisionAt(sql, name, row.revision) : undefined;
  const header = headerWithServerJson(last, document);
  // The items are those of the last revision, so the manifest is the same if its fields are.
  const isSame = last !== undefined && row?.deleted_at === null && canonicalJson(last.header) === canonicalJson(header);
  if (!isSame) {
    const whole = () => manifestSteps(work, name, last, header);
    if (last !== undefined && last.layout.length > mostJudgedAtOnce) {
      throw new LargePublishError("the manifest must be read in steps", whole);
    }
    const request = runAtOnce(whole());
    if (request === undefined) throw new Error(`items of the present revision of ${name} are missing`);
    const published = publish(work.write, { ...request, subject, at });
    if (!published.ok) return published;
  }
  const settled = applyConfig(work, name, document, before);
  const generation = generationOf(sql);
  if (generation > before) {
    if (settled.becamePublic) {
      makePublic(work.write, name, at, generation);
    }
    return ok(generation);
  }
  return ok(logVersionChange(work, name, message, "cosmetic"));
}

/** Maximum number of sources in a config. */
const maxSources = 32;

/** Updates the server's settings from its latest version. Sources set by the owner are kept. */
function applyConfig(
  { sql, write, at, isAllowedUrl }: VersionContext,
  name: string,
  document: ServerJson,
  before: number,
): { becamePublic: boolean } {
  const row = findRow(sql, name);
  const { sources: declared = [], ...config } =
    row === undefined ? ServerConfig.parse({ tenant: shownTenant(sql), name }) : (readJson(row.config) as ServerConfig);
  const byHand = declared.filter((source) => !isRemoteSource(source));
  const known = new Set(byHand.map(({ url }) => url));
  const read = remoteSources(document.remotes, isAllowedUrl).filter(({ url }) => !known.has(url));
  const sources = [...byHand, ...read].slice(0, maxSources);
  const next = {
    ...config,
    visibility: "public",
    sources: sources.length === 0 ? undefined : sources,
  } as ServerConfig;
  setConfig(sql, next);
  const generation = generationOf(sql);
  followSources(write, next, at, generation > before ? generation : undefined);
  return { becamePublic: row?.public_since === null };
}

/** The fields of the last revision, with those of a server.json replaced by those of this document. */
function headerWithServerJson(last: RevisionContent | undefined, document: ServerJson): Record<string, unknown> {
  const kept = Object.entries(last?.header ?? {}).filter(([key]) => !serverJsonFields.includes(key));
  return { ...Object.fromEntries(kept), ...manifestFields(document) };
}

/** The publish of these fields with the items of the last revision. */
function* manifestSteps(
  { sql, subject }: VersionContext,
  name: string,
  last: RevisionContent | undefined,
  header: Record<string, unknown>,
): Steps<Omit<PublishRequest, "at"> | undefined> {
  const capabilities = yield* storedItemSteps(sql, name, last?.layout ?? []);
  if (capabilities === undefined) return undefined;
  const { origins } = last ?? {};
  return {
    ...{ name, subject, partial: false },
    manifest: {
      ...{ header, capabilities, offered: capabilities.length },
      digest: yield* digestOfTextSteps(canonicalManifest(header, capabilities)),
      flags: boundedFlags(scanCapability({ kind: "server", name, declared: header }), flagsPerItem),
      intake: { sections: { known: [], own: [] }, confirmed: [], claims: {} },
    },
    placement: {
      by: "version",
      origins: capabilities.map((_, at) => origins?.of(at) ?? "pushed"),
      fromSources: (origins?.fromSources ?? []).filter((key) => !serverJsonFields.includes(key)),
    },
  };
}
