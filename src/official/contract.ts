import type { DirectoryState } from "../http/directory-state.ts";
import type { ServerRef } from "../kernel/names.ts";
import { readJson } from "../kernel/read-json.ts";
import type { Flag } from "../manifest/flag.ts";
import type { DirectoryEntry, Writer, Written } from "../registry/contract.ts";
import type { ServerJson, StatusUpdate, VersionStatus } from "./schema.ts";

/** One version of a server as the official registry's API shows it. Used by the tenant and the directory. */
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
  /** About the text of the document. */
  flags: Flag[];
  /** Order of publication: a later version has a higher number. */
  sequence: number;
  /** The tenant's generation at the version's last change. */
  generation: number;
}

/** Columns that the tenant's and the directory's version tables share. */
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
  flags: string;
}

export function versionOf(row: VersionRow): ServerVersion {
  return {
    version: row.version,
    document: row.document,
    status: row.status,
    statusMessage: row.status_message ?? undefined,
    statusChangedAt: row.status_changed_at,
    publishedAt: row.published_at,
    updatedAt: row.updated_at,
    isLatest: row.latest === 1,
    flags: readJson(row.flags) as Flag[],
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

/** A published version with the remote URLs that no other server may use. */
export interface PublicVersion extends ServerVersion {
  remotes: string[];
}

/** Versions that a tenant sends to the directory, of a server that is public or was public when it was deleted. */
export interface PublicVersions {
  /** Changed versions, in batches. */
  changed: PublicVersion[];
  /** The version derived from settings and manifest; set if no published version is active or deprecated. */
  derived?: ServerVersion;
}

/** A version in a response, with the directory entry of its server if the server is public. */
export interface ListedVersion extends ServerVersion {
  /** Position in the list: the key of the tenant, a slash and the name of the server. `document` has the shown name. */
  name: string;
  entry?: DirectoryEntry;
}

/** Filter and start position of a list of versions. */
export interface VersionQuery {
  /** Lower-case substring of the name or the description. */
  search?: string;
  updatedSince?: string;
  version?: string;
  includeDeleted: boolean;
  after: { name: string; version: string };
  limit: number;
}

export interface TakenRemote {
  url: string;
  /** Name of the holder if it is public; the name of a private server is not disclosed. */
  by?: string;
}

/** RPC methods that the official API needs of a TenantObject. */
export interface OfficialTenant {
  /** Adds a version from a server.json; creates the server if it does not exist. */
  publishVersion(writer: Writer, request: VersionRequest): Promise<Written<VersionOutcome>>;
  /** Changes all selected versions or none; all versions of the server if `only` is undefined. */
  changeStatus(
    writer: Writer,
    name: string,
    only: string | undefined,
    update: StatusUpdate,
  ): Promise<Written<VersionOutcome>>;
  /** Versions published as server.json, in order of publication. */
  versions(name: string): Promise<ServerVersion[]>;
}

/** Versions in a state of the directory. */
export interface VersionsAsOf extends DirectoryState {
  versions: ListedVersion[];
}

/** RPC methods that the official API needs of the directory. */
export interface OfficialDirectory {
  /** Versions of public servers, in order of name and version. */
  listVersions(query: VersionQuery): Promise<VersionsAsOf>;
  versionsOf(server: ServerRef, includeDeleted: boolean): Promise<VersionsAsOf>;
  versionNamed(server: ServerRef, version: string, includeDeleted: boolean): Promise<VersionsAsOf>;
  claimRemotes(server: ServerRef, urls: readonly string[]): Promise<TakenRemote | undefined>;
  releaseClaims(server: ServerRef, urls: readonly string[]): Promise<void>;
}
