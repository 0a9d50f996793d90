import { type Failure, failure } from "../kernel/failure.ts";
import { createWorkerPace } from "../kernel/platform/worker-pace.ts";
import { err, ok } from "../kernel/result.ts";
import { type SectionName, sectionForKind } from "../manifest/schema/manifest.ts";
import { loadTokenizer } from "../manifest/tokens.ts";
import type { RegistryRecord } from "../registry/record-schema.ts";
import { recordText } from "../registry/record-text.ts";
import { BlockSum, countedBody, type IndexBlock, tokensOf } from "./blocks.ts";
import type { IndexDeps } from "./deps.ts";
import { elementBlock, type IndexElement } from "./elements.ts";
import {
  commentsOf,
  elementsBlocks,
  type IndexOwner,
  type IndexServerNote,
  type IndexText,
  indexTextVersion,
  type MeasuredText,
  metadataBlock,
  noteHeadings,
  noteLines,
  notesBlock,
  noticesBlock,
  triggersBlock,
  withComments,
} from "./text.ts";
import { changedDuringRead, type Gathered, type IndexTotals, type IndexWalk, walkIndex } from "./walk.ts";

/** Limits of one text: a larger one fits neither a model's context nor an isolate's memory. */
const maxElements = 50_000;
const maxServers = 10_000;
const maxCharacters = 8 * 1024 * 1024;

/** Renders the index of a tenant or server; returns `changedDuringRead` if a write happens between pages. */
export async function renderIndex(
  services: IndexDeps,
  index: Omit<IndexWalk, "whole">,
  variant: "summary" | "full",
): Promise<Gathered<IndexText>> {
  const { owner } = index;
  const whole = variant === "full";
  const pace = createWorkerPace();
  const blockOf = blocksOf(owner);
  const sections = new Map<SectionName, IndexBlock[]>();
  const servers: IndexServerNote[] = [];
  let elements = 0;
  let characters = 0;
  const walked = await walkIndex(
    services,
    { ...index, whole },
    {
      element(element, record, digest) {
        elements += 1;
        if (elements > maxElements) return tooLarge(owner, `${maxElements} elements`);
        if (!whole) return undefined;
        const block = blockOf(element, record, digest);
        characters += block.text.length;
        const section = sections.get(sectionForKind(element.kind));
        if (section === undefined) sections.set(sectionForKind(element.kind), [block]);
        else section.push(block);
        return characters > maxCharacters ? tooLarge(owner, `${maxCharacters} characters`) : undefined;
      },
      server(note) {
        servers.push(note);
        return servers.length > maxServers ? tooLarge(owner, `${maxServers} servers`) : undefined;
      },
    },
    pace,
  );
  if (walked === changedDuringRead || !walked.ok) return walked;

  const blocks = leadingBlocks(walked.value);
  if (whole) {
    const notes = notesBlock(servers);
    if (characters + notes.length > maxCharacters) return err(tooLarge(owner, `${maxCharacters} characters`));
    blocks.push(...elementsBlocks<IndexBlock>(sections, (text) => ({ text })), { text: notes });
  } else blocks.push(...noticeBlocks(walked.value));
  const body = await countedBody(services, blocks, pace);
  return ok(withComments(variant, owner, elements, body, await loadTokenizer()));
}

/** What both texts of an index would cost, summed block by block: there is no limit to their size. */
export async function measureIndex(
  services: IndexDeps,
  index: Omit<IndexWalk, "whole">,
): Promise<Gathered<{ summary: MeasuredText; full: MeasuredText }>> {
  const { owner } = index;
  const count = await tokensOf(services);
  const blockOf = blocksOf(owner);
  const full = new BlockSum(count);
  const filled = new Map<SectionName, IndexBlock[]>();
  const has = { servers: false, relationships: false, semantic: false };
  const walked = await walkIndex(
    services,
    { ...index, whole: true },
    {
      element(element, record, digest) {
        full.add(blockOf(element, record, digest));
        filled.set(sectionForKind(element.kind), [{ text: "" }]);
        return undefined;
      },
      server(note) {
        const { server, relationships, semantic } = noteLines(note);
        for (const text of [server, relationships, semantic]) if (text !== undefined) full.add({ text });
        has.servers = true;
        has.relationships ||= relationships !== undefined;
        has.semantic ||= semantic !== undefined;
        return undefined;
      },
    },
    createWorkerPace(),
  );
  if (walked === changedDuringRead || !walked.ok) return walked;

  const summary = new BlockSum(count);
  for (const block of leadingBlocks(walked.value)) {
    summary.add(block);
    full.add(block);
  }
  for (const block of noticeBlocks(walked.value)) summary.add(block);
  for (const block of elementsBlocks<IndexBlock>(filled, (text) => ({ text }))) full.add(block);
  for (const text of Object.values(noteHeadings(has))) full.add({ text });
  const { totalElements } = walked.value.metadata;
  const tokenizer = await loadTokenizer();
  return ok({
    summary: commentsOf("summary", owner, totalElements, summary, tokenizer),
    full: commentsOf("full", owner, totalElements, full, tokenizer),
  });
}

/** Returns the function that makes the block of an element, with a key of everything that the block shows. */
function blocksOf({ name }: IndexOwner) {
  const among = name === undefined;
  return (element: IndexElement, record: RegistryRecord, digest: string): IndexBlock => {
    const known = recordText(record);
    const { server, kind, id } = element;
    const key = `${indexTextVersion} ${among} ${server} ${kind} ${digest} ${id} ${known}`;
    return { text: elementBlock(element, among, known), key };
  };
}

function leadingBlocks({ metadata, triggers }: IndexTotals): IndexBlock[] {
  return [{ text: metadataBlock(metadata) }, { text: triggersBlock(triggers) }];
}

function noticeBlocks({ notices }: IndexTotals): IndexBlock[] {
  return notices.total === 0 ? [] : [{ text: noticesBlock(notices) }];
}

function tooLarge({ tenant, name }: IndexOwner, limit: string): Failure {
  const narrower =
    name === undefined
      ? `read one server's at /api/index/${tenant}/{name}/full, or what fits a budget with POST /api/index/${tenant}/budget`
      : `ask for what fits a budget with POST /api/index/${tenant}/budget and "servers": ["${name}"]`;
  return failure("ErrorIndexTooLarge", `The capability index has more than ${limit}; ${narrower}`);
}
