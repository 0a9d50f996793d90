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

/**
 * What a document may become. Importers copy shared parts into every operation that uses them, so a small document could
 * become a large manifest; these are checked while it is made. There are no settings for them.
 */
export const importBounds = {
  /** YAML, whose composer cannot pause; about half a second of CPU. */
  yamlBytes: 512 * 1024,
  /** Aliases in a YAML document. */
  yamlAliases: 1_000,
  /** GraphQL SDL, by size and by tokens: each part of the work that cannot pause takes about 150 ms of CPU. */
  sdlBytes: 4 * 1024 * 1024,
  sdlTokens: 80_000,
  sdlComments: 50_000,
  /** Types, fields, arguments and values of an introspection result. */
  introspectedMembers: 60_000,
  rtfsBytes: 4 * 1024 * 1024,
  /** JSON values in the schemas of one capability, and of all capabilities that an import makes. */
  schemaNodes: 20_000,
  documentNodes: 500_000,
  /** Values that an OpenAPI import visits, those behind references again for each use. */
  visitedValues: 1_000_000,
  /**
   * Parameters, bodies and answers that operations share are copied into each of them: at most this many bytes, and
   * `sharedTimes` the size of the document.
   */
  sharedBytes: 512 * 1024,
  sharedTimes: 16,
  /** The same for `$defs`. Past it nothing is refused: what is farthest from the operation is left open. */
  definitionBytes: 96 * 1024,
  definitionTimes: 4,
} as const;

/** Bounds that the setting BOUNDS moves. */
export const adjustableBounds = ["configBytes", "capabilityBytes", "manifestBytes", "importBytes"] as const;
export type AdjustableBound = (typeof adjustableBounds)[number];

export type ImportBound = keyof typeof importBounds;

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
