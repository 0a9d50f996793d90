import type { Bounds } from "../../kernel/bounds.ts";
import { canonicalJson, digestOfTextSync } from "../../kernel/digest.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { isObject } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { attributesOf } from "../../manifest/attributes.ts";
import { boundedFlags, flagsPerItem } from "../../manifest/describe.ts";
import type { NewChange } from "../../manifest/diff.ts";
import type { PreparedCapability } from "../../manifest/prepare.ts";
import { mentionedNames, scanCapability } from "../../manifest/scan.ts";
import { canonicalManifest, type StoredCapability, type StoredManifest } from "../../manifest/stored.ts";
import type { PublishRequest } from "../../registry/contract.ts";
import { ServerConfig } from "../../registry/schema.ts";
import { generationOf, recordChanges } from "../../registry/sql/change-log.ts";
import type { WriteContext } from "../../registry/sql/listener.ts";
import { publish } from "../../registry/sql/publish.ts";
import { bodyText, revisionOfDigest } from "../../registry/sql/revisions.ts";
import { bumpOverlay, findRow, type ServerRow, setConfig } from "../../registry/sql/servers.ts";
import { makePublic } from "../../registry/sql/settings.ts";
import { syncSources } from "../../registry/sql/source-rows.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { ServerVersion, VersionOutcome, VersionRequest } from "../contract.ts";
import type { ServerJson } from "../schema.ts";
import { isRemoteSource, manifestFields, remoteSources, serverJsonFields } from "../server-json.ts";
import { latestOf } from "../version-order.ts";
import { findVersion, insertVersion, listVersions, updateLatest, versionsSize } from "./tenant-versions.ts";

/** Context of a change to a server's versions. */
export interface VersionContext {
  sql: SqlStorage;
  write: WriteContext;
  at: string;
  subject: string;
  bounds: Bounds;
  /** True if the registry may read this remote. */
  isAllowedUrl: (url: string) => boolean;
}

/**
 * Adds a version to a server and creates the server if it does not exist. Runs inside a transaction. The latest version
 * defines the server: its fields go into the manifest's header, its remotes become sources.
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
    ? applyLatestVersion(work, name, { document, status: "active" }, message)
    : logVersionChange(work, name, message);
  if (!moved.ok) return moved;
  const generation = moved.value;
  insertVersion(sql, { server: name, version, document: text, at, subject, generation });
  updateLatest(sql, name, at, generation);
  const added = findVersion(sql, name, version);
  return ok({ generation, versions: added === undefined ? [] : [added] });
}

/** Refuses to change the versions of a private server, because publishing would make it public. */
export function checkPrivate({ sql }: VersionContext, name: string): Failure | undefined {
  const row = findRow(sql, name);
  const isThere = row !== undefined && (row.deleted_at === null || row.withdrawn === 1);
  if (!isThere || row.visibility === "public") return undefined;
  const message = `${shownTenant(sql)}/${name} is private; /v0.1 publishes publicly. First set \`visibility: "public"\` (PUT /api/mcp/configs)`;
  return failure("ErrorServerPrivate", message);
}

/** Logs a version change that leaves manifest and settings unchanged. Returns its generation. */
export function logVersionChange(
  { sql, at, bounds }: VersionContext,
  name: string,
  message: string,
): Result<number, Failure> {
  const reasons = [{ path: "/version", classification: "cosmetic" as const, message }];
  const change: NewChange = { kind: "server", key: name, classification: "cosmetic", reasons };
  const { generation } = recordChanges(sql, name, at, [change], bounds.changes);
  bumpOverlay(sql, name, generation, at);
  return ok(generation);
}

/** The version that defines its server. */
interface LatestVersion {
  document: ServerJson;
  status: "active" | "deprecated";
}

/**
 * Makes a version define its server: its fields go into the manifest's header, its remotes become sources, its status
 * becomes the server's. Capabilities stay. All changes share one generation, which is returned.
 */
export function applyLatestVersion(
  work: VersionContext,
  name: string,
  latestVersion: LatestVersion,
  message: string,
): Result<number, Failure> {
  const { sql, at, subject } = work;
  const before = generationOf(sql);
  const row = findRow(sql, name);
  const { manifest, placement } = manifestWithServerJson(sql, row, name, latestVersion.document);
  if (row === undefined || row.deleted_at !== null || row.digest !== manifest.digest) {
    const published = publish(work.write, { name, subject, at, manifest, placement, partial: false });
    if (!published.ok) return published;
  }
  const settled = applyConfig(work, name, latestVersion);
  const generation = generationOf(sql);
  if (generation > before) {
    if (settled.becamePublic) {
      makePublic(work.write, name, at, generation);
    }
    return ok(generation);
  }
  return logVersionChange(work, name, message);
}

/** Maximum number of sources in a config. */
const maxSources = 32;

/** Updates the server's settings from its latest version. Sources set by the owner are kept. */
function applyConfig(
  { sql, at, isAllowedUrl }: VersionContext,
  name: string,
  { document, status }: LatestVersion,
): { becamePublic: boolean } {
  const row = findRow(sql, name);
  const {
    status: _,
    sources: declared = [],
    ...config
  } = row === undefined
    ? ServerConfig.parse({ tenant: shownTenant(sql), name })
    : (readJson(row.config) as ServerConfig);
  const byHand = declared.filter((source) => !isRemoteSource(source));
  const known = new Set(byHand.map(({ url }) => url));
  const read = remoteSources(document.remotes, isAllowedUrl).filter(({ url }) => !known.has(url));
  const sources = [...byHand, ...read].slice(0, maxSources);
  const next = {
    ...config,
    visibility: "public",
    status: status === "active" ? undefined : status,
    sources: sources.length === 0 ? undefined : sources,
  } as ServerConfig;
  setConfig(sql, next);
  syncSources(sql, next, at);
  return { becamePublic: row?.public_since === null };
}

/** The server's manifest with the header fields of a server.json replaced by those of this document. */
function manifestWithServerJson(
  sql: SqlStorage,
  row: ServerRow | undefined,
  name: string,
  document: ServerJson,
): Pick<PublishRequest, "manifest" | "placement"> {
  const last = lastManifest(sql, row, name);
  const kept = Object.entries(last?.header ?? {}).filter(([key]) => !serverJsonFields.includes(key));
  const header = { ...Object.fromEntries(kept), ...manifestFields(document) };
  const capabilities = (last?.capabilities ?? []).map(prepared);
  const { origins } = (last && revisionOfDigest(sql, name, last.digest)) ?? {};
  return {
    manifest: {
      ...{ header, capabilities, offered: capabilities.length },
      digest: digestOfTextSync(canonicalManifest(header, capabilities)),
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

/** The current manifest or, for a withdrawn server, its last one, so that the server is restored unchanged. */
function lastManifest(sql: SqlStorage, row: ServerRow | undefined, name: string): StoredManifest | undefined {
  if (row === undefined) return undefined;
  const newest = sql
    .exec<{ digest: string }>("SELECT digest FROM revision WHERE server = ? ORDER BY number DESC LIMIT 1", name)
    .toArray()[0]?.digest;
  const text = newest === undefined ? undefined : bodyText(sql, name, row.digest ?? newest);
  return text === undefined ? undefined : (readJson(text) as StoredManifest);
}

function prepared(item: StoredCapability): PreparedCapability {
  const { declared, ...known } = item;
  const { metadata } = declared;
  return {
    ...known,
    path: "",
    text: canonicalJson(declared),
    discovered: isObject(metadata) && isObject(metadata.discovery),
    mentions: mentionedNames(declared),
    attributes: attributesOf(declared),
  };
}
