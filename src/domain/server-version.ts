import type { VersionStatus } from "../schemas/index.ts";

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
