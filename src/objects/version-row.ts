import type { ServerVersion } from "../domain/server-version.ts";
import type { VersionStatus } from "../schemas/index.ts";

/** What the tables of versions, a tenant's and the directory's, have in common. */
export interface VersionRow extends Record<string, SqlStorageValue> {
  server: string;
  version: string;
  sequence: number;
  document: string;
  status: VersionStatus;
  status_message: string | null;
  status_changed_at: string;
  published_at: string;
  updated_at: string;
  latest: number;
  generation: number;
}

export function versionOf(row: VersionRow): ServerVersion {
  return {
    version: row.version,
    document: row.document,
    status: row.status,
    ...(row.status_message === null ? {} : { statusMessage: row.status_message }),
    statusChangedAt: row.status_changed_at,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
    isLatest: row.latest === 1,
    sequence: row.sequence,
    generation: row.generation,
  };
}
