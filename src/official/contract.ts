import type { AsOf, DirectoryEntry, Writer, Written } from "../registry/contract.ts";
import type { ServerJson, StatusUpdate, VersionStatus } from "./schema.ts";

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
    statusMessage: row.status_message ?? undefined,
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

/** A published version, with the addresses that are its server's alone. */
export interface PublicVersion extends ServerVersion {
  remotes: string[];
}

/** What a tenant tells of the versions of a server that is public, or was when it ended. */
export interface PublicVersions {
  /** Those that changed, a batch at a time. */
  changed: PublicVersion[];
  /** The one that stands for a server without published ones. */
  derived?: ServerVersion;
}

/** A version in an answer, with the server it belongs to where that is still there. */
export interface ListedVersion extends ServerVersion {
  /** `tenant/name` */
  name: string;
  entry?: DirectoryEntry;
}

/** Which versions a list is of, and after which one it goes on. */
export interface VersionQuery {
  /** In lower case; part of the name or the description. */
  search?: string;
  updatedSince?: string;
  version?: string;
  includeDeleted: boolean;
  after: { name: string; version: string };
  limit: number;
}

export interface TakenRemote {
  url: string;
  /** Where it is public: of any other server nobody is told. */
  by?: string;
}

/** What the official API asks a tenant's object. */
export interface OfficialTenant {
  /** Adds a version that came as server.json, and makes its server where there is none. */
  publishVersion(writer: Writer, request: VersionRequest): Promise<Written<VersionOutcome>>;
  /** All of the versions or none. */
  changeStatus(
    writer: Writer,
    name: string,
    only: string | undefined,
    update: StatusUpdate,
  ): Promise<Written<VersionOutcome>>;
  /** What was published as server.json, in the order it was. */
  versions(name: string): Promise<ServerVersion[]>;
}

/** What the official API asks the directory. */
export interface OfficialDirectory {
  /** Versions of public servers, in order of name and version. */
  listVersions(query: VersionQuery): Promise<AsOf<{ versions: ListedVersion[] }>>;
  versionsOf(name: string, includeDeleted: boolean): Promise<ListedVersion[]>;
  versionNamed(name: string, version: string, includeDeleted: boolean): Promise<ListedVersion | undefined>;
  claimRemotes(name: string, urls: readonly string[]): Promise<TakenRemote | undefined>;
  releaseClaims(name: string, urls: readonly string[]): Promise<void>;
}
