/** Prices and limits of the platform, each with the page that says it (November 2026). Nothing else in the model is a price. */

const workers = "https://developers.cloudflare.com/workers/platform/pricing/";
const kv = "https://developers.cloudflare.com/kv/platform/pricing/";
const objects = "https://developers.cloudflare.com/durable-objects/platform/pricing/";

/** Dollars for a million, of the paid plan; what the plan includes is not taken off. CPU is for a million milliseconds. */
export const priceList = {
  requests: { dollars: 0.3, label: "requests", source: workers },
  cpuMs: { dollars: 0.02, label: "CPU", source: workers },
  kvReads: { dollars: 0.5, label: "KV reads", source: kv },
  kvWrites: { dollars: 5, label: "KV writes", source: kv },
  objectCalls: { dollars: 0.15, label: "object calls", source: objects },
  rowsRead: { dollars: 0.001, label: "rows read", source: objects },
  rowsWritten: { dollars: 1, label: "rows written", source: objects },
} as const;

export type Item = keyof typeof priceList;

export const items = Object.keys(priceList) as Item[];

const objectLimits = "https://developers.cloudflare.com/durable-objects/platform/limits/";

export const limits = {
  /** DIRECTORY_MB; an isolate has 128 MB in all. */
  directoryBytes: { value: 56 * 1024 * 1024, source: "docs/reference/settings.md" },
  /** A soft limit of one object. */
  objectCallsPerSecond: { value: 1_000, source: objectLimits },
  objectBytes: { value: 10 * 1024 ** 3, source: objectLimits },
  /** An object, like an isolate, computes one thing at a time. */
  cpuMsPerSecond: { value: 1_000, source: objectLimits },
  /** `cpu_ms` of wrangler.toml. */
  requestCpuMs: { value: 30_000, source: "wrangler.toml" },
  /** Five calls a minute of a hundred tags. */
  purgedTagsPerDay: {
    value: 5 * 60 * 24 * 100,
    source: "https://developers.cloudflare.com/cache/how-to/purge-cache/",
  },
} as const;
