import { readJson } from "../../kernel/read-json.ts";
import { checkAddress } from "../../outbound/address.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import { headerAt } from "../../registry/sql/revisions.ts";
import type { ServerRow } from "../../registry/sql/servers.ts";
import type { PublicVersion, PublicVersions, ServerVersion } from "../contract.ts";
import { serverJsonOf } from "../derive-server-json.ts";
import type { ServerJson } from "../schema.ts";
import { claimedUrls } from "../server-json.ts";
import { findVersion, hasWithdrawnVersions, latestDocument, pendingVersions } from "./tenant-versions.ts";

/** Maximum number of versions per server and batch. A document has at most 64 kB. */
const batchVersions = 20;

export interface VersionBatch {
  sent: ServerVersion[];
  versions: PublicVersions;
  complete: boolean;
}

/**
 * The next changed versions of a server to send to the directory. A server without published versions, or with all of
 * them deleted by themselves, gets one derived version.
 */
export function versionBatch(
  sql: SqlStorage,
  row: ServerRow,
  config: ServerConfig,
  isSent: (version: ServerVersion) => boolean,
  sentCount: number,
  room: { bytes: number },
): VersionBatch {
  const pending = pendingVersions(sql, row.name, batchVersions + sentCount + 1).filter((version) => !isSent(version));
  const sent = pending.slice(0, batchVersions).filter(({ document }) => {
    // A document is included if any space is left, even if it is larger: every batch must make progress.
    const fits = room.bytes > 0;
    if (fits) room.bytes -= 2 * document.length;
    return fits;
  });
  const changed = sent.map(
    (version): PublicVersion => ({ ...version, remotes: claimedUrls(readJson(version.document) as ServerJson) }),
  );
  const isDerived =
    row.deleted_at === null && latestDocument(sql, row.name) === undefined && !hasWithdrawnVersions(sql, row.name);
  const derived = isDerived ? derivedVersion(sql, row, config) : undefined;
  return {
    sent,
    versions: { changed, derived },
    complete: sent.length === pending.length,
  };
}

function derivedVersion(sql: SqlStorage, row: ServerRow, config: ServerConfig): ServerVersion {
  const header = row.digest === null ? {} : headerAt(sql, row.name, row.revision);
  const derived = serverJsonOf(config, header, (url) => checkAddress(url, { ownHosts: [] }).ok);
  // The version may have been published and deleted, and a published version is never reused.
  const isTaken = findVersion(sql, row.name, derived.version) !== undefined;
  const document = isTaken ? { ...derived, version: `${derived.version}+g${row.generation}` } : derived;
  return {
    version: document.version,
    document: JSON.stringify(document),
    status: config.status === "withdrawn" ? "deleted" : (config.status ?? "active"),
    statusMessage: config.statusMessage,
    statusChangedAt: row.updated_at,
    publishedAt: row.created_at,
    updatedAt: row.updated_at,
    isLatest: true,
    // The entry of the server has the flags of the texts that this is made from.
    flags: [],
    sequence: row.generation,
    generation: row.generation,
  };
}
