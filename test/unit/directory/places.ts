import type { CardRow, Place, VersionRow } from "../../../src/directory/rows.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import type { CatalogEntry } from "../../../src/registry/summary.ts";

export function card(key: string, more: Partial<CardRow> = {}): CardRow {
  return {
    kind: "tool",
    key,
    id: `mcp.weather.${key}`,
    digest: `sha256-${"0123456789abcdef".repeat(4)}`,
    tokens: 7,
    flags: [],
    attributes: [],
    terms: new Uint8Array([1, 2, 3, 4, 5]),
    ...more,
  };
}

export function version(number: string, more: Partial<VersionRow> = {}): VersionRow {
  const at = "2026-01-02T03:04:05.678Z";
  return {
    version: number,
    status: "active",
    statusChangedAt: at,
    publishedAt: at,
    updatedAt: at,
    isLatest: true,
    isDerived: false,
    description: "weather",
    flags: [],
    sequence: 3,
    generation: 2 ** 40,
    document: JSON.stringify({ name: "demo/weather", version: number, description: "Wetter für alle ☂" }),
    ...more,
  };
}

export function entry(tenant: string, name: string): CatalogEntry {
  return {
    tenant,
    name,
    visibility: "public",
    status: "active",
    generation: 1,
    updatedAt: "2026-01-02T03:04:05.678Z",
    probe: "unknown",
    attributes: [["provider", "mcp"]],
  } as CatalogEntry;
}

export function place(tenant: string, name: string, more: Partial<Place> = {}): Place {
  return {
    tenant: tenantKey(tenant),
    name,
    entry: entry(tenant, name),
    cardsAsOf: 5,
    cards: [card("forecast")],
    versions: [],
    ...more,
  };
}

/** What hides a server in older segments. */
export function tombstone(tenant: string, name: string): Place {
  return { tenant: tenantKey(tenant), name, cards: [], versions: [] };
}
