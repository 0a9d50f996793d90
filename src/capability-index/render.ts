import { type Failure, failure } from "../kernel/failure.ts";
import { tenantKey } from "../kernel/names.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { deprecationOf } from "../manifest/deprecation.ts";
import { type Flag, shownFlags } from "../manifest/flag.ts";
import { type SectionName, sectionForKind } from "../manifest/schema/manifest.ts";
import { type CountTokens, loadTokenizer } from "../manifest/tokens.ts";
import { factsOf, itemFlagsIn, recordOf, serverFlags } from "../registry/record.ts";
import type { RegistryRecord } from "../registry/record-schema.ts";
import { noticeText, recordText } from "../registry/record-text.ts";
import { actionTriggers } from "./action-triggers.ts";
import type { IndexPage, IndexRange, IndexRow, IndexServer } from "./contract.ts";
import type { IndexDeps } from "./deps.ts";
import { elementBlock, labelOf, triggersOf } from "./elements.ts";
import { scalar } from "./print-yaml.ts";
import {
  elementsBlocks,
  type IndexOwner,
  type IndexServerNote,
  type IndexText,
  indexTextVersion,
  metadataBlock,
  notesBlock,
  noticesBlock,
  type TenantIndexOwner,
  triggersBlock,
  withComments,
} from "./text.ts";
import { addSizes, sizeOfText } from "./token-estimate.ts";

/** Part of an index, in whole lines. `key` caches the token count of a block that other indexes may contain too. */
export interface IndexBlock {
  text: string;
  key?: string;
}

/** Takes about 20 ms to count. */
const sliceCharacters = 65_536;

/** Joins blocks and adds up their tokens. Pauses between slices, so that other requests can run. */
export async function countedBody(services: IndexDeps, blocks: readonly IndexBlock[]): Promise<IndexText> {
  const count = await tokensOf(services);
  let tokens = 0;
  let size = sizeOfText("");
  let counted = 0;
  for (const block of blocks) {
    tokens += count(block, () => {
      counted += block.text.length;
    });
    size = addSizes(size, sizeOfText(block.text));
    if (counted > sliceCharacters) {
      counted = 0;
      await scheduler.wait(0);
    }
  }
  return { text: blocks.map(({ text }) => text).join(""), tokens, size };
}

/** Returns a function that counts the tokens of a block, with a cache. */
export async function tokensOf(services: IndexDeps): Promise<(block: IndexBlock, onCount?: () => void) => number> {
  const { indexTexts } = services;
  const count: CountTokens = await loadTokenizer();
  return ({ text, key }, onCount) => {
    const known = key === undefined ? undefined : indexTexts.countOf(key);
    if (known !== undefined) return known;
    onCount?.();
    const tokens = count(text);
    if (key !== undefined) indexTexts.setCount(key, tokens);
    return tokens;
  };
}

/** Limits of one index: a larger one fits neither a model's context nor an isolate's memory. */
const maxElements = 50_000;
const maxServers = 10_000;
const maxCharacters = 8 * 1024 * 1024;

/** A write happened between pages, so the pages are inconsistent. */
export const changedDuringRead = Symbol("moved");

type Gathered<T> = Result<T, Failure> | typeof changedDuringRead;

/** Renders the index of a tenant or server; returns `changedDuringRead` if a write happens between pages. */
export async function renderIndex(
  services: IndexDeps,
  owner: TenantIndexOwner,
  range: IndexRange,
  stamp: string,
  variant: "summary" | "full",
): Promise<Gathered<IndexText>> {
  const tenant = () => services.tenant(tenantKey(owner.tenant));
  const servers: IndexServer[] = [];
  const read = await everyPage(
    stamp,
    ([after = ""]) => tenant().indexServers(range, after),
    (rows) => {
      servers.push(...rows);
      return servers.length > maxServers ? tooLarge(owner, `${maxServers} servers`) : undefined;
    },
  );
  if (read === changedDuringRead || !read.ok) return read;

  const among = owner.name === undefined;
  const whole = variant === "full";
  const elements: { server: string; kind: IndexRow["kind"]; key: string; id: string; declared?: unknown }[] = [];
  const sections = new Map<SectionName, IndexBlock[]>();
  const recordOfRow = rowRecords(servers);
  const summaryNotices: string[] = [];
  let characters = 0;
  const gathered = await everyPage(
    stamp,
    (after) => tenant().indexItems(range, { whole, after }),
    (rows) => {
      for (const row of rows) {
        const { server, kind, key, id } = row;
        const declared = readJson(row.text) as Record<string, unknown>;
        elements.push({ server, kind, key, id, declared: triggersOf(declared) });
        const record = recordOfRow(row, declared);
        if (!whole) {
          const notice = noticeText(record);
          if (notice !== "") summaryNotices.push(`${scalar(labelOf(row, among))}: ${notice}`);
          continue;
        }
        const known = recordText(record);
        const text = elementBlock({ server, kind, key, id, declared }, among, known);
        characters += text.length;
        if (characters > maxCharacters) return tooLarge(owner, `${maxCharacters} characters`);
        const block = { text, key: `${indexTextVersion} ${among} ${server} ${kind} ${row.digest} ${id} ${known}` };
        const section = sections.get(sectionForKind(kind));
        if (section === undefined) sections.set(sectionForKind(kind), [block]);
        else section.push(block);
      }
      return elements.length > maxElements ? tooLarge(owner, `${maxElements} elements`) : undefined;
    },
  );
  if (gathered === changedDuringRead || !gathered.ok) return gathered;

  const triggers = actionTriggers(
    elements.map((element) => ({ ...element, label: labelOf(element, among) })),
    servers.flatMap(({ name, actionTriggers: declared }) =>
      declared === undefined ? [] : [{ server: name, triggers: declared }],
    ),
  );
  const metadata = {
    created: servers.reduce<string | null>((first, { createdAt }) => least(first, createdAt), null),
    lastUpdated: servers.reduce<string | null>((last, { updatedAt }) => greatest(last, updatedAt), null),
    totalElements: elements.length,
  };
  const blocks: IndexBlock[] = [{ text: metadataBlock(metadata) }, { text: triggersBlock(triggers) }];
  if (summaryNotices.length > 0) blocks.push({ text: noticesBlock(summaryNotices) });
  if (whole) {
    const notes = notesBlock(notesOf(servers, elements));
    if (characters + notes.length > maxCharacters) return err(tooLarge(owner, `${maxCharacters} characters`));
    blocks.push(...elementsBlocks<IndexBlock>(sections, (text) => ({ text })), { text: notes });
  }
  const body = await countedBody(services, blocks);
  return ok(withComments(variant, owner, elements.length, body, await loadTokenizer()));
}

/** Returns the function that makes the record of an element. */
function rowRecords(servers: readonly IndexServer[]) {
  const known = new Map(
    servers.map(({ name, head }) => [name, { facts: factsOf(head), flagsOf: itemFlagsIn(head) }] as const),
  );
  return ({ server, id, digest, tokens, flags }: IndexRow, declared: Record<string, unknown>): RegistryRecord => {
    const { facts, flagsOf } = known.get(server) ?? { facts: { status: "active" as const }, flagsOf: () => [] };
    const all = flagsOf({ id, digest, flags: flags === "[]" ? [] : (readJson(flags) as Flag[]) });
    return recordOf({ tokens, flags: all, deprecated: deprecationOf(declared) }, facts);
  };
}

function notesOf(servers: readonly IndexServer[], elements: readonly { server: string }[]): IndexServerNote[] {
  const counts = Map.groupBy(elements, ({ server }) => server);
  return servers.map(({ name, title, version, relationships, semantic, head }) => ({
    name,
    notice: noticeText({ ...factsOf(head), flags: shownFlags(serverFlags(head)) }),
    elements: counts.get(name)?.length ?? 0,
    title,
    version,
    relationships,
    semantic,
  }));
}

async function everyPage<T>(
  stamp: string,
  read: (after: string[]) => Promise<IndexPage<T>>,
  take: (rows: T[]) => Failure | undefined,
): Promise<Gathered<undefined>> {
  for (let after: string[] | undefined = []; after !== undefined; ) {
    const page: IndexPage<T> = await read(after);
    if (page.stamp !== stamp) return changedDuringRead;
    const error = take(page.rows);
    if (error !== undefined) return err(error);
    after = page.next;
  }
  return ok(undefined);
}

function tooLarge({ tenant, name }: IndexOwner, limit: string): Failure {
  const narrower =
    name === undefined
      ? `read one server's at /api/index/${tenant}/{name}/full, or what fits a budget with POST /api/index/${tenant}/budget`
      : `ask for what fits a budget with POST /api/index/${tenant}/budget and "servers": ["${name}"]`;
  return failure("ErrorIndexTooLarge", `The capability index has more than ${limit}; ${narrower}`);
}

function least(a: string | null, b: string): string {
  return a === null || b < a ? b : a;
}

function greatest(a: string | null, b: string): string {
  return a === null || b > a ? b : a;
}
