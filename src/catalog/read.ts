import type { Principal } from "../auth/principal.ts";
import { checkMinDirectory } from "../directory/freshness.ts";
import type { DirectoryView } from "../directory/view.ts";
import { type DirectoryState, reaches } from "../http/directory-state.ts";
import { type Page, type PageRequest, pageOf, readCursor, serverKey } from "../http/page.ts";
import { digestOfText } from "../kernel/digest.ts";
import type { Failure } from "../kernel/failure.ts";
import { refOf } from "../kernel/names.ts";
import { freshMs } from "../kernel/platform/freshness.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type CatalogEntry, listedServer } from "../registry/summary.ts";
import {
  type CatalogAnswer,
  type CatalogCaller,
  type CatalogCounts,
  type CatalogField,
  type CatalogOrder,
  type CatalogQuestion,
  catalogDimensions,
  type DirectoryAsOf,
  type PrivateServers,
} from "./contract.ts";
import type { CatalogDeps } from "./deps.ts";
import type { EntryCache } from "./entry-cache.ts";
import { entriesSource, segmentSource } from "./listing.ts";
import type { CatalogPage } from "./page-cache.ts";
import type { CatalogQuery } from "./query.ts";
import { countQuestion, selectItems, selectServers } from "./select.ts";

interface ShownCatalog extends Omit<CatalogPage, "directory"> {
  directory: DirectoryState & { age?: number };
  source: AnswerSource;
  /** For a page that can be sent again: true while it is the one to send. */
  holds?: () => boolean;
}

/** How new a page must be. */
export interface CatalogFreshness {
  /** The directory's object answers. */
  strong: boolean;
  min?: DirectoryState;
}

/** Part of the ETag: change it whenever the response format changes. */
const version = "c3";

/**
 * A page of the servers a caller may see, across tenants. What is public comes from the isolate's copy of the directory, and
 * the caller's private servers from the directory's object, kept for two seconds. Without a copy, for admins, and where
 * the caller has very many servers, the object answers everything.
 */
export async function readCatalog(
  services: CatalogDeps,
  principal: Principal,
  { filter, order, facets, fields }: CatalogQuery,
  page: PageRequest,
  freshness: CatalogFreshness,
): Promise<Result<ShownCatalog, Failure>> {
  const caller: CatalogCaller = principal.admin ? "admin" : [...new Set(principal.tenants)].sort();
  // The cursor does not depend on fields and facets: they may differ from page to page.
  const scope = { list: "catalog", caller, filter, order: order === "name" ? undefined : order };
  const key = JSON.stringify({
    ...scope,
    fields,
    facets: facets ?? null,
    limit: page.limit,
    cursor: page.cursor ?? null,
  });
  const local = await localParts(services, caller, freshness);
  const kept = services.catalogPages.find(key);
  const same = kept && keptPage(services, key, kept, local, freshness);
  if (same !== undefined) return ok(same);
  const start = await readCursor(services, page.cursor, scope);
  if (!start.ok) return start;
  const question: CatalogQuestion = {
    ...filter,
    order,
    after: positionOf(order, start.value?.after ?? []),
    limit: page.limit + 1,
    facets: facets ?? (page.cursor === undefined ? catalogDimensions : []),
  };
  const writeVersion = services.catalogPages.writeVersion();
  // The first page of callers who see nothing but what is public differs in generation and cursor alone.
  const sharedKey =
    local !== undefined && page.cursor === undefined && hiddenOf(local).length === 0
      ? JSON.stringify([filter, order, fields, facets ?? null, page.limit])
      : undefined;
  const shared = sharedKey && local && services.catalogPages.findPublic(sharedKey, local.view);
  const answer =
    local === undefined
      ? await services.directory().catalog({ ...question, caller, known: kept?.page.generation })
      : shared
        ? { ...asOf(local), items: shared.items }
        : answerFrom(services.catalogEntries, local, question);
  const behind = checkMinDirectory(answer.directory, freshness.min);
  if (behind !== undefined) return err(behind);
  if ("known" in answer) {
    if (kept === undefined) throw new Error("the directory knows of a page that was not mentioned");
    services.catalogPages.keep(key, kept.page, writeVersion);
    return ok({ ...kept.page, source: "object" });
  }
  const keyOf =
    order === "name" ? serverKey : (entry: CatalogEntry) => [String(Date.parse(entry.updatedAt)), ...serverKey(entry)];
  const built = await pageOf(services, page.limit, scope, start.value, answer, keyOf);
  if (!built.ok) return built;
  const { generation, nextCursor } = built.value;
  const { content, etag } = shared || (await contentOf(built.value, answer, fields));
  if (sharedKey !== undefined && !shared) {
    const { items, directory } = answer;
    services.catalogPages.keepPublic(sharedKey, { directory, items, content, etag });
  }
  const rest = JSON.stringify({ generation, nextCursor });
  const shownPage: CatalogPage = {
    body: `{"success":true,"data":${content.slice(0, -1)},${rest.slice(1)}}`,
    etag,
    generation,
    directory: answer.directory,
  };
  services.catalogPages.keep(key, shownPage, writeVersion);
  if (local === undefined) return ok({ ...shownPage, source: "object" });
  return ok(sent(services, shownPage, local));
}

/** Counts of a view as JSON text, made once: they stay in memory as long as the view. */
const countedTexts = new WeakMap<CatalogCounts, string>();

function countedText(counted: CatalogCounts | undefined): string {
  if (counted === undefined) return "{}";
  let text = countedTexts.get(counted);
  if (text === undefined) {
    text = JSON.stringify(counted);
    countedTexts.set(counted, text);
  }
  return text;
}

async function contentOf(
  { items, nextCursor, changed }: Page<CatalogEntry>,
  { counted }: CatalogAnswer,
  fields: readonly CatalogField[],
): Promise<{ content: string; etag: string }> {
  const rest = changed ? JSON.stringify({ ...counted, changed }) : countedText(counted);
  const list = `{"items":[${items.map((entry) => shownText(entry, fields)).join(",")}]`;
  const content = rest === "{}" ? `${list}}` : `${list},${rest.slice(1)}`;
  const digest = await digestOfText(`${content} ${nextCursor !== undefined}`);
  // Weak: it does not cover the generation and the cursor that contains it, which change with every write of any
  // tenant.
  return { content, etag: `W/"${digest.slice(7, 39)}.${version}"` };
}

/** What this isolate has of an answer: everything public, and the private servers of the caller's tenants. */
interface LocalParts {
  view: DirectoryView;
  own?: PrivateServers & { entries: CatalogEntry[] };
}

/** undefined if the directory's object must answer. */
async function localParts(
  { edgeDirectory, ownServers }: CatalogDeps,
  caller: CatalogCaller,
  { strong, min }: CatalogFreshness,
): Promise<LocalParts | undefined> {
  if (caller === "admin") return undefined;
  const view = await edgeDirectory.current({ strong, min });
  if (view === undefined || caller.length === 0) return view && { view };
  const own = await ownServers.of(caller);
  const { entries } = own;
  if (entries === undefined) return undefined;
  // A server that has just become public is in neither, if what is public is older than what is not.
  const newer = reaches(view, own.directory) ? view : await edgeDirectory.current({ min: own.directory });
  return newer && { view: newer, own: { ...own, entries } };
}

function answerFrom(entries: EntryCache, local: LocalParts, question: CatalogQuestion): CatalogAnswer {
  const sources = local.view.segments.map((segment) => segmentSource(segment, entries));
  const hidden = hiddenOf(local);
  if (hidden.length > 0) {
    sources.push(entriesSource(hidden));
    return { ...asOf(local), ...selectServers(sources, question) };
  }
  const { values, updatedSince, order, after, limit, facets } = question;
  const page = JSON.stringify([values, updatedSince, order, after, limit]);
  const items = entries.selected(local.view, page, () => selectItems(sources, question));
  if (facets.length === 0) return { ...asOf(local), items };
  // Pages of one list differ in what they show; what they count is the same for everybody who sees only what is public.
  const key = JSON.stringify([values, updatedSince, facets]);
  return { ...asOf(local), items, counted: entries.counted(local.view, key, () => countQuestion(sources, question)) };
}

/** What is public may be newer than what is not: a server that is in both has become public. */
function hiddenOf({ view, own }: LocalParts): CatalogEntry[] {
  const isNewer = own !== undefined && own.directory.generation !== view.generation;
  return (own?.entries ?? []).filter((entry) => !isNewer || view.entry(refOf(entry)) === undefined);
}

function asOf({ view, own }: LocalParts): DirectoryAsOf {
  const { epoch, generation } = view;
  return { generation: own?.generation ?? generation, directory: { epoch, generation } };
}

/** The kept page, if it is still the one to send. */
function keptPage(
  services: CatalogDeps,
  key: string,
  { page, fresh }: { page: CatalogPage; fresh: boolean },
  local: LocalParts | undefined,
  { strong, min }: CatalogFreshness,
): ShownCatalog | undefined {
  if (local !== undefined) return isOf(page, asOf(local)) ? sent(services, page, local) : undefined;
  if (!fresh || strong || !reaches(page.directory, min)) return undefined;
  services.usage.memory += 1;
  const holds = () => {
    const found = services.catalogPages.find(key);
    return found?.page === page && found.fresh;
  };
  return { ...page, source: "memory", holds };
}

function isOf(page: CatalogPage, { generation, directory }: DirectoryAsOf): boolean {
  return (
    page.generation === generation &&
    page.directory.epoch === directory.epoch &&
    page.directory.generation === directory.generation
  );
}

/** A page made from memory. Kept by its state: a view in a closure would hold its segments in memory. */
function sent(services: CatalogDeps, page: CatalogPage, { own }: LocalParts): ShownCatalog {
  services.usage.memory += 1;
  const { edgeDirectory, catalogPages } = services;
  const writeVersion = catalogPages.writeVersion();
  const until = own === undefined ? undefined : services.now() + freshMs;
  const holds = () =>
    edgeDirectory.isCurrent(page.directory) &&
    catalogPages.writeVersion() === writeVersion &&
    (until === undefined || services.now() <= until);
  return { ...page, directory: { ...page.directory, age: edgeDirectory.age }, source: "memory", holds };
}

/** Each field with its name as JSON text; undefined where the entry has none. Made once of an entry that stays in memory. */
const fieldTexts = new WeakMap<CatalogEntry, Record<CatalogField, string | undefined>>();

/** The requested fields of an entry, as JSON text. */
function shownText(entry: CatalogEntry, fields: readonly CatalogField[]): string {
  let texts = fieldTexts.get(entry);
  if (texts === undefined) {
    texts = textsOf(entry);
    fieldTexts.set(entry, texts);
  }
  let shown = "";
  for (const field of fields) {
    const text = texts[field];
    if (text !== undefined) shown += shown === "" ? text : `,${text}`;
  }
  return `{${shown}}`;
}

function textsOf({ attributes, ...entry }: CatalogEntry): Record<CatalogField, string | undefined> {
  const grouped = Map.groupBy(attributes, ([dimension]) => dimension);
  const values = [...grouped].map(([dimension, found]) => [dimension, found.map(([, value]) => value)]);
  const all: Record<CatalogField, unknown> = {
    ...{ title: undefined, description: undefined, version: undefined, digest: undefined },
    ...{ counts: undefined, tokens: undefined },
    ...listedServer(entry),
    probe: entry.probe,
    attributes: Object.fromEntries(values),
  };
  const texts = Object.entries(all).map(([field, value]) => {
    const text = JSON.stringify(value);
    return [field, text && `"${field}":${text}`];
  });
  return Object.fromEntries(texts) as Record<CatalogField, string | undefined>;
}

/** The position after which a page starts: keys of the cursor, in the order of the list. */
function positionOf(order: CatalogOrder, after: readonly string[]): CatalogQuestion["after"] {
  const [tenant = "", name = ""] = order === "name" ? after : after.slice(1);
  const updatedAt = order === "name" || after[0] === undefined ? undefined : Number(after[0]);
  return { ...refOf({ tenant, name }), updatedAt };
}
