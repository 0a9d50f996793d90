import { readJson } from "../../../kernel/read-json.ts";

/** An entry of the log in columns. */
export interface ChangeRow extends Record<string, SqlStorageValue> {
  sequence: number;
  generation: number;
  at: string;
  server: string;
  kind: string;
  key: string;
  classification: string;
  from_digest: string | null;
  to_digest: string | null;
  reasons: string;
  record: string | null;
}

export interface ChainedRow extends ChangeRow {
  previous: string;
  hash: string;
}

/**
 * A row of the log: an entry, and in `rest` the entries of the same write that follow it. Each row costs a write of the
 * row, one of its index and one of the last number, so a publish of many items writes few rows. Conditions of SQL on
 * entries about the server itself see the columns alone: such an entry is always the first of its row.
 */
export interface LogRow extends ChainedRow {
  /** JSON of `RestEntry[]`; null if the row has one entry. */
  rest: string | null;
}

/** What an entry does not share with the entry before it. SQL reads `hash`, `kind`, `key` and `classification` by place. */
type RestEntry = [
  hash: string,
  kind: string,
  key: string,
  classification: string,
  from: string | null,
  to: string | null,
  reasons: string,
  record: string | null,
];

/** A row is read whole, also for one of its entries. */
const maxEntries = 50;
const maxCharacters = 100_000;

/** The rows of entries that follow each other and are of one write. */
export function logRows(entries: readonly ChainedRow[]): LogRow[] {
  const rows: LogRow[] = [];
  let rest: string[] = [];
  let room = 0;
  const close = () => {
    const last = rows.at(-1);
    if (last !== undefined && rest.length > 0) last.rest = `[${rest.join(",")}]`;
  };
  for (const entry of entries) {
    const text = JSON.stringify(restOf(entry));
    if (entry.kind === "server" || text.length > room || rest.length + 1 >= maxEntries) {
      close();
      rows.push({ ...entry, rest: null });
      rest = [];
      room = maxCharacters;
      continue;
    }
    rest.push(text);
    room -= text.length;
  }
  close();
  return rows;
}

function restOf({ hash, kind, key, classification, from_digest, to_digest, reasons, record }: ChainedRow): RestEntry {
  return [hash, kind, key, classification, from_digest, to_digest, reasons, record];
}

/** The entries of a row, in order. */
export function entriesOf(row: LogRow): ChainedRow[] {
  const entries: ChainedRow[] = [row];
  if (row.rest === null) return entries;
  const { generation, at, server } = row;
  let { sequence, hash: previous } = row;
  for (const [hash, kind, key, classification, from, to, reasons, record] of readJson(row.rest) as RestEntry[]) {
    sequence += 1;
    const digests = { from_digest: from, to_digest: to };
    const own = { kind, key, classification, ...digests, reasons, record, previous, hash };
    entries.push({ sequence, generation, at, server, ...own });
    previous = hash;
  }
  return entries;
}
