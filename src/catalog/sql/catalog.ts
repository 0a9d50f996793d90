import { refOf } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import { clip } from "../../kernel/text.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { CatalogAnswer, DirectoryCatalogQuery } from "../contract.ts";
import { hasStoredCounts, maxCounted, scannedCounts, storedCounts } from "./facets.ts";
import { type ListedServer, type Scanned, scanServers } from "./pages.ts";

const start = refOf({ tenant: "", name: "" });
/** Longer descriptions are cut in a page; the server itself has the full text. */
const maxDescriptionLength = 1_000;

/** A page of the catalogue with its counts. */
export function readCatalog(sql: SqlStorage, question: DirectoryCatalogQuery): Omit<CatalogAnswer, "generation"> {
  const { caller, facets, after, limit, values, updatedSince } = question;
  const unfiltered = Object.keys(values).length === 0 && updatedSince === undefined;
  const counting = facets.length > 0;
  if (!counting || (unfiltered && hasStoredCounts(caller))) {
    const page = pageOf(sql, scanServers(sql, question, after, limit), limit);
    return counting ? { ...page, counted: storedCounts(sql, caller, facets) } : page;
  }
  // For the first page, one scan serves both items and counts.
  const all = scanServers(sql, question, start, Math.max(maxCounted + 1, limit));
  const isFirst = after.tenant === "" && after.name === "";
  const complete = all.stoppedAt === undefined && all.found.length <= maxCounted;
  const counted = scannedCounts(sql, all.found.slice(0, maxCounted), complete, facets);
  return { ...pageOf(sql, isFirst ? all : scanServers(sql, question, after, limit), limit), counted };
}

function pageOf(sql: SqlStorage, { found, stoppedAt }: Scanned, limit: number): Omit<CatalogAnswer, "generation"> {
  const items = found.slice(0, limit).map((row) => entryAt(sql, row));
  return found.length < limit && stoppedAt !== undefined ? { items, stoppedAt } : { items };
}

function entryAt(sql: SqlStorage, { tenant, name }: ListedServer): CatalogEntry {
  const { entry } = sql
    .exec<{ entry: string }>("SELECT entry FROM server WHERE tenant = ? AND name = ?", tenant, name)
    .one();
  const listed = readJson(entry) as CatalogEntry;
  const { description } = listed;
  if (description === undefined || description.length <= maxDescriptionLength) return listed;
  return { ...listed, description: clip(description, maxDescriptionLength) };
}
