import type { ServerJson, VersionStatus } from "./schema.ts";

/** One version of a server as the official registry's API shows it, wherever it is kept. */
export interface ServerVersion {
  version: string;
  /** The server.json, as JSON text. */
  document: string;
  status: VersionStatus;
  statusMessage?: string;
  statusChangedAt: string;
  publishedAt: string;
  updatedAt: string;
  isLatest: boolean;
  /** Counts publications: a later one has a higher number. */
  sequence: number;
  /** The tenant's generation at the version's last change. */
  generation: number;
}

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

export interface VersionRequest {
  name: string;
  document: ServerJson;
}

export interface VersionOutcome {
  generation: number;
  versions: ServerVersion[];
}
