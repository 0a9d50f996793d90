import type { CatalogEntry } from "../../registry/summary.ts";
import type { CatalogAnswer, CatalogQuestion } from "../contract.ts";
import { areKept, countedCounts, keptCounts, mostCounted } from "./facets.ts";
import { type Listed, type Position, type Walked, walk } from "./pages.ts";

const start: Position = { tenant: "", name: "" };
/** A page is for choosing; the whole text is with the server. */
const longestDescription = 1_000;

/** A page of the catalogue, and the counts that go with it. */
export function readCatalog(sql: SqlStorage, question: CatalogQuestion): Omit<CatalogAnswer, "generation"> {
  const { caller, facets, after, limit, values, updatedSince } = question;
  const unfiltered = Object.keys(values).length === 0 && updatedSince === undefined;
  const counting = facets.length > 0;
  if (!counting || (unfiltered && areKept(caller))) {
    const page = pageOf(sql, walk(sql, question, after, limit), limit);
    return counting ? { ...page, counted: keptCounts(sql, caller, facets) } : page;
  }
  // Looked at once for both where the page is the first.
  const all = walk(sql, question, start, Math.max(mostCounted + 1, limit));
  const isFirst = after.tenant === "" && after.name === "";
  const complete = all.stoppedAt === undefined && all.found.length <= mostCounted;
  const counted = countedCounts(sql, all.found.slice(0, mostCounted), complete, facets);
  return { ...pageOf(sql, isFirst ? all : walk(sql, question, after, limit), limit), counted };
}

function pageOf(sql: SqlStorage, { found, stoppedAt }: Walked, limit: number): Omit<CatalogAnswer, "generation"> {
  const items = found.slice(0, limit).map((row) => entryAt(sql, row));
  return found.length < limit && stoppedAt !== undefined ? { items, stoppedAt } : { items };
}

function entryAt(sql: SqlStorage, { tenant, name }: Listed): CatalogEntry {
  const { entry } = sql
    .exec<{ entry: string }>("SELECT entry FROM server WHERE tenant = ? AND name = ?", tenant, name)
    .one();
  const listed = JSON.parse(entry) as CatalogEntry;
  const { description } = listed;
  if (description === undefined || description.length <= longestDescription) return listed;
  return { ...listed, description: `${description.slice(0, longestDescription).toWellFormed()}…` };
}
