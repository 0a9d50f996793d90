import { checkAddress } from "../../outbound/address.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import { headerAt } from "../../registry/sql/revisions.ts";
import type { ServerRow } from "../../registry/sql/servers.ts";
import type { PublicVersion, PublicVersions, ServerVersion } from "../contract.ts";
import { serverJsonOf } from "../derive-server-json.ts";
import type { ServerJson } from "../schema.ts";
import { claimedUrls } from "../server-json.ts";
import { findVersion, latestDocument, pendingVersions } from "./tenant-versions.ts";

/** Of one server in one batch. A document is at most 64 kB. */
const batchVersions = 20;

export interface VersionBatch {
  told: ServerVersion[];
  versions: PublicVersions;
  complete: boolean;
}

/**
 * What the directory is told of a server's versions: those that changed, a batch at a time. A server that published none,
 * or has taken back all, is there with one that is worked out from what it is.
 */
export function versionBatch(
  sql: SqlStorage,
  row: ServerRow,
  config: ServerConfig,
  isTold: (version: ServerVersion) => boolean,
  alreadyTold: number,
  room: { bytes: number },
): VersionBatch {
  const pending = pendingVersions(sql, row.name, batchVersions + alreadyTold + 1).filter((version) => !isTold(version));
  const told = pending.slice(0, batchVersions).filter(({ document }) => {
    // One that is begun is told: something must move in every batch.
    const fits = room.bytes > 0;
    if (fits) room.bytes -= 2 * document.length;
    return fits;
  });
  const changed = told.map(
    (version): PublicVersion => ({ ...version, remotes: claimedUrls(JSON.parse(version.document) as ServerJson) }),
  );
  const isLive = row.deleted_at === null;
  const derived = isLive && latestDocument(sql, row.name) === undefined ? derivedVersion(sql, row, config) : undefined;
  return {
    told,
    versions: { changed, derived },
    complete: told.length === pending.length,
  };
}

function derivedVersion(sql: SqlStorage, row: ServerRow, config: ServerConfig): ServerVersion {
  const header = row.digest === null ? {} : headerAt(sql, row.name, row.revision);
  const derived = serverJsonOf(config, header, (url) => checkAddress(url, { ownHosts: [] }).ok);
  // The number may be one that was published and taken back, and those are never given again.
  const isTaken = findVersion(sql, row.name, derived.version) !== undefined;
  const document = isTaken ? { ...derived, version: `${derived.version}+g${row.generation}` } : derived;
  return {
    version: document.version,
    document: JSON.stringify(document),
    status: config.status ?? "active",
    statusChangedAt: row.updated_at,
    publishedAt: row.created_at,
    updatedAt: row.updated_at,
    isLatest: true,
    sequence: row.generation,
    generation: row.generation,
  };
}
