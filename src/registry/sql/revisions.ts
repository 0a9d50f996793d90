import { analysisUnits, runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import { analysisVersion } from "../../manifest/describe.ts";
import type { ChangeCounts } from "../../manifest/diff.ts";
import type { PreparedCapability } from "../../manifest/prepare.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import { preparedItem } from "../../manifest/stored-item.ts";
import type { Revision } from "../contract.ts";
import { type RevisionOrigins, readOrigins } from "./origins.ts";
import { cancelTask, enqueueTask } from "./outbox-table.ts";

/** Kinds and digests of a revision's items, in the publisher's order. */
export type Layout = [kind: CapabilityKind, digest: string][];

interface NewRevision {
  server: string;
  number: number;
  digest: string;
  generation: number;
  at: string;
  subject: string;
  changes: ChangeCounts;
  header: Record<string, unknown>;
  layout: Layout;
  /** Where the items came from, as `originsText` writes it. */
  origins: string | null;
}

export function insertRevision(sql: SqlStorage, revision: NewRevision): void {
  const { server, number, digest, generation, at, subject, changes, header, layout, origins } = revision;
  insert(sql, "revision", {
    ...{ server, number, digest, generation },
    published_at: at,
    published_by: subject,
    changes: JSON.stringify(changes),
    header: JSON.stringify(header),
    layout: JSON.stringify(layout),
    origins,
  });
  enqueueBody(sql, server, digest);
}

/** The content of a revision, without its items. */
export interface RevisionContent {
  header: Record<string, unknown>;
  layout: Layout;
  origins: RevisionOrigins;
}

export function revisionAt(sql: SqlStorage, server: string, number: number): RevisionContent | undefined {
  return contentOf(sql, "SELECT header, layout, origins FROM revision WHERE server = ? AND number = ?", server, number);
}

/** The newest revision of the server with this digest. */
export function revisionOfDigest(sql: SqlStorage, server: string, digest: string): RevisionContent | undefined {
  const newest =
    "SELECT header, layout, origins FROM revision WHERE server = ? AND digest = ? ORDER BY number DESC LIMIT 1";
  return contentOf(sql, newest, server, digest);
}

function contentOf(sql: SqlStorage, query: string, ...bindings: SqlStorageValue[]): RevisionContent | undefined {
  const found = sql.exec<{ header: string; layout: string; origins: string | null }>(query, ...bindings).toArray()[0];
  if (found === undefined) return undefined;
  const layout = readJson(found.layout) as Layout;
  return {
    header: readJson(found.header) as Record<string, unknown>,
    layout,
    origins: readOrigins(found.origins, layout.length),
  };
}

/** Header of a revision, without parsing its layout. */
export function headerAt(sql: SqlStorage, server: string, number: number): Record<string, unknown> {
  const found = sql.exec<{ header: string }>(
    "SELECT header FROM revision WHERE server = ? AND number = ?",
    server,
    number,
  );
  const header = found.toArray()[0]?.header;
  return header === undefined ? {} : (readJson(header) as Record<string, unknown>);
}

interface RevisionRow extends Record<string, SqlStorageValue> {
  number: number;
  digest: string;
  generation: number;
  published_at: string;
  published_by: string;
  changes: string;
  version: SqlStorageValue;
}

const columns =
  "number, digest, generation, published_at, published_by, changes, json_extract(header, '$.version') AS version";

/** Revisions of a server below a revision number, newest first. */
export function listRevisions(sql: SqlStorage, server: string, before: number, limit: number): Revision[] {
  const rows = sql
    .exec<RevisionRow>(
      `SELECT ${columns} FROM revision WHERE server = ? AND number < ? ORDER BY number DESC LIMIT ?`,
      server,
      before,
      limit,
    )
    .toArray();
  return withTokens(sql, server, rows);
}

/** The newest revision of the server with this digest; revisions of other servers are not searched. */
export function findRevision(sql: SqlStorage, server: string, digest: string): Revision | undefined {
  const rows = sql
    .exec<RevisionRow>(
      `SELECT ${columns} FROM revision WHERE digest = ? AND server = ? ORDER BY number DESC LIMIT 1`,
      digest,
      server,
    )
    .toArray();
  return withTokens(sql, server, rows)[0];
}

interface ItemSpan extends Record<string, SqlStorageValue> {
  first: number;
  last: number | null;
  tokens: number;
}

/** Revisions with the cost of their definitions, from the stored items: one pass over the rows, however many revisions. */
function withTokens(sql: SqlStorage, server: string, rows: readonly RevisionRow[]): Revision[] {
  const oldest = rows.at(-1)?.number;
  if (oldest === undefined) return [];
  const columns = "first_revision AS first, last_revision AS last, sum(tokens) AS tokens";
  const spans = sql
    .exec<ItemSpan>(
      `SELECT ${columns} FROM capability INDEXED BY capability_current
       WHERE server = ?1 AND last_revision IS NULL GROUP BY first_revision
       UNION ALL SELECT ${columns} FROM capability INDEXED BY capability_past
       WHERE server = ?1 AND last_revision >= ?2 GROUP BY first_revision, last_revision`,
      server,
      oldest,
    )
    .toArray();
  return rows.map((row) => ({
    number: row.number,
    digest: row.digest,
    generation: row.generation,
    publishedAt: row.published_at,
    publishedBy: row.published_by,
    version: typeof row.version === "string" ? row.version : undefined,
    changes: readJson(row.changes) as ChangeCounts,
    tokens: spans
      .filter(({ first, last }) => first <= row.number && (last === null || last >= row.number))
      .reduce((sum, { tokens }) => sum + tokens, 0),
  }));
}

interface ItemRow extends Record<string, SqlStorageValue> {
  kind: string;
  digest: string;
  key: string;
  id: string;
  declared: string;
  tokens: number;
  flags: string;
  created_at: string | null;
  analysis: number;
}

const itemColumns = "kind, digest, key, id, declared, tokens, flags, created_at, analysis";

/** The stored manifest of a server with this digest as JSON text, rebuilt from rows. */
export function bodyText(sql: SqlStorage, server: string, digest: string): string | undefined {
  return runAtOnce(bodyTextSteps(sql, server, digest));
}

/** Items up to which a body is read with one statement. */
const mostReadAtOnce = 2_000;
const itemsPerStep = 250;
/** About the time of reading an item's row and joining its text. */
const unitsPerItem = 15;

/** `bodyText` in steps. undefined also if the revision was removed meanwhile. */
export function* bodyTextSteps(sql: SqlStorage, server: string, digest: string): Steps<string | undefined> {
  const find = () =>
    sql
      .exec<{ number: number; header: string; layout: string }>(
        "SELECT number, header, layout FROM revision WHERE digest = ? AND server = ? ORDER BY number DESC LIMIT 1",
        digest,
        server,
      )
      .toArray()[0];
  const revision = find();
  if (revision === undefined) return undefined;
  const layout = readJson(revision.layout) as Layout;
  let analysis = analysisVersion;
  const items: string[] = [];
  const isLarge = layout.length > mostReadAtOnce;
  const perStep = isLarge ? itemsPerStep : mostReadAtOnce;
  for (let from = 0; from < layout.length; from += perStep) {
    const part = layout.slice(from, from + perStep);
    const rows = isLarge ? namedRows(sql, server, part) : rowsOfRevision(sql, server, revision.number);
    const found = new Map(rows.map((row) => [`${row.kind} ${row.digest}`, row]));
    for (const [kind, itemDigest] of part) {
      const row = found.get(`${kind} ${itemDigest}`);
      if (row === undefined && find() === undefined) return undefined;
      if (row === undefined) throw new Error(`revision ${revision.number} of ${server} lacks ${kind} ${itemDigest}`);
      analysis = Math.min(analysis, row.analysis);
      items.push(itemText(row));
    }
    yield unitsPerItem * part.length;
  }
  const known = `"digest":${JSON.stringify(digest)},"analysis":${analysis}`;
  return `{${known},"header":${revision.header},"capabilities":[${items.join(",")}]}`;
}

function rowsOfRevision(sql: SqlStorage, server: string, number: number): ItemRow[] {
  return sql
    .exec<ItemRow>(
      // Two halves, each with its own index: rows that ended before the revision are not scanned.
      `SELECT ${itemColumns} FROM capability INDEXED BY capability_current
       WHERE server = ?1 AND last_revision IS NULL AND first_revision <= ?2
       UNION ALL SELECT ${itemColumns} FROM capability INDEXED BY capability_past
       WHERE server = ?1 AND last_revision >= ?2 AND first_revision <= ?2`,
      server,
      number,
    )
    .toArray();
}

function namedRows(sql: SqlStorage, server: string, named: Layout): ItemRow[] {
  return sql
    .exec<ItemRow>(
      `SELECT ${itemColumns} FROM capability
       WHERE server = ? AND (kind, digest) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
      server,
      JSON.stringify(named),
    )
    .toArray();
}

/**
 * The items of a layout as a publish takes them, in steps: a manifest that the object puts together from what it has.
 * undefined if one of them was removed meanwhile.
 */
export function* storedItemSteps(
  sql: SqlStorage,
  server: string,
  layout: Layout,
): Steps<PreparedCapability[] | undefined> {
  const items: PreparedCapability[] = [];
  for (let from = 0; from < layout.length; from += itemsPerStep) {
    const part = layout.slice(from, from + itemsPerStep);
    const found = new Map(namedRows(sql, server, part).map((row) => [`${row.kind} ${row.digest}`, row]));
    for (const [kind, digest] of part) {
      const row = found.get(`${kind} ${digest}`);
      if (row === undefined) return undefined;
      const text = itemText(row);
      items.push(preparedItem(readJson(text) as StoredCapability));
      yield unitsPerItem + analysisUnits(text.length);
    }
  }
  return items;
}

/** The current manifest of a server, with the origins of its items. */
export function storedManifest(
  sql: SqlStorage,
  server: string,
): { manifest: StoredManifest; origins: RevisionOrigins } | undefined {
  const digest = sql
    .exec<{ digest: string | null }>("SELECT digest FROM server WHERE name = ?", server)
    .toArray()[0]?.digest;
  const text = digest ? bodyText(sql, server, digest) : undefined;
  const revision = digest ? revisionOfDigest(sql, server, digest) : undefined;
  if (text === undefined || revision === undefined) return undefined;
  return { manifest: readJson(text) as StoredManifest, origins: revision.origins };
}

/** Concatenated, not re-serialised: `flags` and `declared` are already JSON. */
function itemText({ kind, key, id, digest, tokens, flags, created_at: createdAt, declared }: ItemRow): string {
  const known = JSON.stringify({ kind, key, id, digest, tokens }).slice(0, -1);
  const created = createdAt === null ? "" : `,"createdAt":${JSON.stringify(createdAt)}`;
  return `${known},"flags":${flags}${created},"declared":${declared}}`;
}

/** Deletes revisions up to a number, and the item versions that only they refer to. */
export function pruneRevisions(sql: SqlStorage, server: string, upTo: number): void {
  if (upTo < 1) return;
  const digests = sql
    .exec<{ digest: string }>("SELECT digest FROM revision WHERE server = ? AND number <= ?", server, upTo)
    .toArray();
  sql.exec("DELETE FROM revision WHERE server = ? AND number <= ?", server, upTo);
  sql.exec("DELETE FROM capability WHERE server = ? AND last_revision <= ?", server, upTo);
  for (const { digest } of digests) dropBodyIfOrphan(sql, server, digest);
}

/** Enqueues writing the body of a new revision to KV, unless an earlier revision has the same digest. */
function enqueueBody(sql: SqlStorage, server: string, digest: string): void {
  const times = sql
    .exec("SELECT count(*) AS times FROM revision WHERE digest = ? AND server = ?", digest, server)
    .one().times;
  if (times !== 1) return;
  cancelTask(sql, "drop-body", bodySubject(server, digest));
  enqueueTask(sql, "body", bodySubject(server, digest));
}

/** Enqueues deleting a body from KV if no retained revision refers to it. */
export function dropBodyIfOrphan(sql: SqlStorage, server: string, digest: string): void {
  const kept = sql.exec("SELECT 1 FROM revision WHERE digest = ? AND server = ? LIMIT 1", digest, server).toArray();
  if (kept.length > 0) return;
  cancelTask(sql, "body", bodySubject(server, digest));
  enqueueTask(sql, "drop-body", bodySubject(server, digest));
}

/** Subject of a body's outbox task. Neither part can contain a space. */
export function bodySubject(server: string, digest: string): string {
  return `${server} ${digest}`;
}

export function parseBodySubject(subject: string): { server: string; digest: string } {
  const [server = "", digest = ""] = subject.split(" ");
  return { server, digest };
}
