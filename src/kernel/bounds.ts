/** Size limits. Everything a caller can send is checked against one of them. */
export interface Bounds {
  configBytes: number;
  capabilityBytes: number;
  manifestBytes: number;
  /** A document to import; it is larger than the manifest made from it. */
  importBytes: number;
  /** An event of a publisher: a manifest in its envelope. */
  eventBytes: number;
  depth: number;
  /** Capabilities in one manifest. The limit keeps a revision's layout in one row. */
  capabilities: number;
  /** Revisions stored per server. */
  revisions: number;
  /** One server.json; a page of a list contains up to a hundred. */
  serverJsonBytes: number;
  /** Published versions of a server, and the total size of their documents: one response contains all of them. */
  versions: number;
  versionsBytes: number;
  /** Entries stored in a tenant's change log. */
  changes: number;
}

export const defaultBounds: Bounds = {
  configBytes: 256 * 1024,
  capabilityBytes: 512 * 1024,
  manifestBytes: 8 * 1024 * 1024,
  importBytes: 16 * 1024 * 1024,
  eventBytes: 8 * 1024 * 1024 + 64 * 1024,
  depth: 64,
  capabilities: 10_000,
  revisions: 100,
  serverJsonBytes: 64 * 1024,
  versions: 1_000,
  versionsBytes: 8 * 1024 * 1024,
  changes: 100_000,
};
