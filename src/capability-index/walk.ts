import type { Failure } from "../kernel/failure.ts";
import { tenantKey } from "../kernel/names.ts";
import { analysisUnits, type Pace } from "../kernel/pace/pace.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { deprecationOf } from "../manifest/deprecation.ts";
import { type Flag, shownFlags } from "../manifest/flag.ts";
import { factsOf, itemFlagsIn, recordOf, serverFlags } from "../registry/record.ts";
import type { RegistryRecord } from "../registry/record-schema.ts";
import { noticeText } from "../registry/record-text.ts";
import { type ActionTriggers, TriggerCollector } from "./action-triggers.ts";
import type { IndexPage, IndexRange, IndexRow, IndexServer } from "./contract.ts";
import type { IndexDeps } from "./deps.ts";
import { type IndexElement, labelOf, triggersOf } from "./elements.ts";
import type { IndexWork } from "./index-work.ts";
import { scalar } from "./print-yaml.ts";
import { type IndexMetadata, type IndexServerNote, Notices, type TenantIndexOwner } from "./text.ts";

/** A write happened between pages, so the pages are inconsistent. */
export const changedDuringRead = Symbol("moved");

export type Gathered<T> = Result<T, Failure> | typeof changedDuringRead;

/** Which index, at which version. `whole`: elements with everything that they declare. */
export interface IndexWalk {
  owner: TenantIndexOwner;
  range: IndexRange;
  stamp: string;
  whole: boolean;
  work: IndexWork;
}

/** Gets what an index shows, piece by piece. A failure ends the walk. */
export interface IndexVisitor {
  /** In order of server, kind and key. */
  element(element: IndexElement, record: RegistryRecord, digest: string): Failure | undefined;
  /** Called after the elements of the server. */
  server(note: IndexServerNote): Failure | undefined;
}

/** What is known of an index once all of it has been seen. */
export interface IndexTotals {
  metadata: IndexMetadata;
  triggers: ActionTriggers;
  notices: Notices;
}

/**
 * Reads an index page by page and keeps little of it, however large it is: servers and items come in the same order, so
 * only the items of one server are ever needed together.
 */
export async function walkIndex(
  services: IndexDeps,
  { owner, range, stamp, whole, work }: IndexWalk,
  visitor: IndexVisitor,
  pace: Pace,
): Promise<Gathered<IndexTotals>> {
  const tenant = () => services.tenant(tenantKey(owner.tenant));
  const among = owner.name === undefined;
  const servers = new RowReader<IndexServer>(stamp, ([after = ""]) => tenant().indexServers(range, after));
  const items = new RowReader<IndexRow>(stamp, (after) => tenant().indexItems(range, { whole, after }));
  const metadata: IndexMetadata = { created: null, lastUpdated: null, totalElements: 0 };
  const triggers = new TriggerCollector();
  const notices = new Notices();
  for (;;) {
    if (servers.isUsedUp && !(await servers.readOn())) return changedDuringRead;
    const server = servers.take();
    if (server === undefined) break;
    const recordOfRow = rowRecords(server);
    const own: { label: string; key: string; id: string }[] = [];
    let elements = 0;
    for (;;) {
      if (items.isUsedUp && !(await items.readOn())) return changedDuringRead;
      const row = items.next;
      if (row === undefined || row.server > server.name) break;
      items.take();
      if (row.server !== server.name) continue;
      const { kind, key, id, digest } = row;
      const declared = readJson(row.text) as Record<string, unknown>;
      const label = labelOf(row, among);
      const record = recordOfRow(row, declared);
      const notice = noticeText(record);
      if (notice !== "") notices.add(`${scalar(label)}: ${notice}`);
      triggers.addElement({ label, kind, key, declared: triggersOf(declared) });
      if (server.actionTriggers !== undefined) own.push({ label, key, id });
      elements += 1;
      const counted = work.add();
      const tooMuch = counted && (await counted);
      if (tooMuch !== undefined) return err(tooMuch);
      const error = visitor.element({ server: server.name, kind, key, id, declared }, record, digest);
      if (error !== undefined) return err(error);
      await pace.spend(analysisUnits(row.text.length));
    }
    if (server.actionTriggers !== undefined) triggers.addDeclared(server.actionTriggers, own);
    metadata.created = least(metadata.created, server.createdAt);
    metadata.lastUpdated = greatest(metadata.lastUpdated, server.updatedAt);
    metadata.totalElements += elements;
    const error = visitor.server(noteOf(server, elements));
    if (error !== undefined) return err(error);
  }
  return ok({ metadata, triggers: triggers.triggers(), notices });
}

/** Returns the function that makes the record of an element of a server. */
function rowRecords({ head }: IndexServer) {
  const facts = factsOf(head);
  const flagsOf = itemFlagsIn(head);
  return ({ id, digest, tokens, flags }: IndexRow, declared: Record<string, unknown>): RegistryRecord => {
    const all = flagsOf({ id, digest, flags: flags === "[]" ? [] : (readJson(flags) as Flag[]) });
    return recordOf({ tokens, flags: all, deprecated: deprecationOf(declared) }, facts);
  };
}

function noteOf(server: IndexServer, elements: number): IndexServerNote {
  const { name, title, version, relationships, semantic, head } = server;
  const notice = noticeText({ ...factsOf(head), flags: shownFlags(serverFlags(head)) });
  return { name, title, version, elements, notice, relationships, semantic };
}

/** Rows of a list, one page at a time, all of one version. */
class RowReader<T> {
  readonly #stamp: string;
  readonly #read: (after: string[]) => Promise<IndexPage<T>>;
  #rows: readonly T[] = [];
  #at = 0;
  #after: string[] | undefined = [];

  constructor(stamp: string, read: (after: string[]) => Promise<IndexPage<T>>) {
    this.#stamp = stamp;
    this.#read = read;
  }

  /** True if the next page has to be read first. */
  get isUsedUp(): boolean {
    return this.#at >= this.#rows.length && this.#after !== undefined;
  }

  /** Reads the next page that has rows. Returns false if it is of another version. */
  async readOn(): Promise<boolean> {
    while (this.#at >= this.#rows.length && this.#after !== undefined) {
      const { stamp, rows, next } = await this.#read(this.#after);
      if (stamp !== this.#stamp) return false;
      [this.#rows, this.#at, this.#after] = [rows, 0, next];
    }
    return true;
  }

  get next(): T | undefined {
    return this.#rows[this.#at];
  }

  take(): T | undefined {
    const row = this.next;
    this.#at += 1;
    return row;
  }
}

function least(a: string | null, b: string): string {
  return a === null || b < a ? b : a;
}

function greatest(a: string | null, b: string): string {
  return a === null || b > a ? b : a;
}
