/** How large things may be. Everything a caller can send is measured against one of these. */
export interface Bounds {
  configBytes: number;
  capabilityBytes: number;
  manifestBytes: number;
  /** A document to import, which is larger than the manifest made from it. */
  importBytes: number;
  depth: number;
  /** Items in one manifest: keeps a revision's layout in one row. */
  capabilities: number;
  /** Revisions of a server that are kept and can be read back. */
  revisions: number;
  /** One server.json: a page of a list carries a hundred. */
  serverJsonBytes: number;
  /** Published versions of a server, and their documents together: all of them are one answer. */
  versions: number;
  versionsBytes: number;
  /** Entries of a tenant's change log that are kept. */
  changes: number;
}

export const defaultBounds: Bounds = {
  configBytes: 256 * 1024,
  capabilityBytes: 512 * 1024,
  manifestBytes: 8 * 1024 * 1024,
  importBytes: 16 * 1024 * 1024,
  depth: 64,
  capabilities: 10_000,
  revisions: 100,
  serverJsonBytes: 64 * 1024,
  versions: 1_000,
  versionsBytes: 8 * 1024 * 1024,
  changes: 100_000,
};
