import { type SectionName, sectionNames } from "../manifest/schema/manifest.ts";
import type { CountTokens } from "../manifest/tokens.ts";
import type { ActionTriggers } from "./action-triggers.ts";
import type { IndexStats } from "./answer-schema.ts";
import { flow, flowList, keyLine, scalar } from "./print-yaml.ts";
import {
  addSizes,
  estimateTokens,
  largestContext,
  sizeOfText,
  smallestContext,
  type TextSize,
} from "./token-estimate.ts";

/** Part of ETags and cache keys: change it with any change of the format. */
export const indexTextVersion = "i3";

/** Format version in the metadata of an index. */
const formatVersion = "1.0.0";

/** Owner of an index as shown: a tenant, a server, or the registry itself if both are absent. */
export interface IndexOwner {
  tenant?: string | undefined;
  name?: string | undefined;
}

export interface TenantIndexOwner extends IndexOwner {
  tenant: string;
}

export function indexUri({ tenant, name }: IndexOwner, variant: string): string {
  return ["rollcall://capability-index", tenant, name, variant].filter((part) => part !== undefined).join("/");
}

export interface IndexMetadata {
  /** `created`: earliest registration of a server in the index; `lastUpdated`: latest change. null without servers. */
  created: string | null;
  lastUpdated: string | null;
  totalElements: number;
}

/** What a text costs. */
export interface MeasuredText {
  tokens: number;
  size: TextSize;
}

/** A text with its token count and size. */
export interface IndexText extends MeasuredText {
  text: string;
}

/** What an index shows of a server besides its elements. */
export interface IndexServerNote {
  name: string;
  title?: string;
  version?: string;
  elements: number;
  /** What to mind about the server, in one line; empty if there is nothing. */
  notice: string;
  relationships?: unknown;
  semantic?: unknown;
}

/**
 * An index consists of blocks. Each block starts with a line that is not blank and ends with a line break; the
 * tokenizer splits text at line ends, so the tokens of the blocks add up to those of the whole.
 */
export function metadataBlock({ created, lastUpdated, totalElements }: IndexMetadata): string {
  return [
    "metadata:",
    `  version: ${flow(formatVersion)}`,
    `  created: ${flow(created)}`,
    `  last_updated: ${flow(lastUpdated)}`,
    `  total_elements: ${totalElements}\n`,
  ].join("\n");
}

export function triggersBlock(triggers: ActionTriggers): string {
  if (triggers.size === 0) return "action_triggers: {}\n";
  const lines = [...triggers].map(([verb, labels]) => `${keyLine("  ", verb)} ${flowList(labels)}\n`);
  return `action_triggers:\n${lines.join("")}`;
}

const maxNotices = 100;

/** What to mind about elements of a summary: the first ones, and how many there are. */
export class Notices {
  readonly shown: string[] = [];
  total = 0;

  add(notice: string): void {
    this.total += 1;
    if (this.shown.length < maxNotices) this.shown.push(notice);
  }
}

/** As comments: a summary has only the names of elements. */
export function noticesBlock(notices: Pick<Notices, "shown" | "total">): string {
  const shown = notices.shown.map((notice) => `#   ${notice}\n`);
  const more = notices.total - shown.length;
  return `# registry:\n${shown.join("")}${more > 0 ? `#   and ${more} more; the full index has them all\n` : ""}`;
}

/** Blocks of elements grouped by section; empty sections are left out. */
export function elementsBlocks<Block>(
  bySection: ReadonlyMap<SectionName, readonly Block[]>,
  line: (text: string) => Block,
): Block[] {
  const filled = sectionNames.filter((section) => (bySection.get(section)?.length ?? 0) > 0);
  if (filled.length === 0) return [line("elements: {}\n")];
  return [
    line("elements:\n"),
    ...filled.flatMap((section) => [line(`  ${section}:\n`), ...(bySection.get(section) ?? [])]),
  ];
}

/** What an index says of one server behind its elements: one line, or two, for each of three places. */
export interface NoteLines {
  server: string;
  relationships?: string;
  semantic?: string;
}

export function noteLines({
  name,
  title,
  version,
  elements,
  notice,
  relationships,
  semantic,
}: IndexServerNote): NoteLines {
  const comment = notice === "" ? "" : `    # registry: ${notice}\n`;
  const declared = (indent: string, value: unknown) =>
    value === undefined ? undefined : `${keyLine(indent, name)} ${flow(value)}\n`;
  return {
    server: `${comment}${keyLine("    ", name)} ${flow({ title, version, elements })}\n`,
    relationships: declared("    ", relationships),
    semantic: declared("  ", semantic),
  };
}

/** The lines around what is said of servers. */
export function noteHeadings(has: { servers: boolean; relationships: boolean; semantic: boolean }) {
  return {
    servers: has.servers ? "relationships:\n  servers:\n" : "relationships:\n  servers: {}\n",
    relationships: has.relationships ? "  declared:\n" : "",
    semantic: has.semantic ? "semantic:\n" : "semantic: {}\n",
  };
}

/** The servers of the index, and the relationships and semantic data that publishers declare. */
export function notesBlock(servers: readonly IndexServerNote[]): string {
  const notes = servers.map(noteLines);
  const linesOf = (place: keyof NoteLines) => notes.map((note) => note[place] ?? "").join("");
  const [named, relationships, semantic] = [linesOf("server"), linesOf("relationships"), linesOf("semantic")];
  const has = { servers: named !== "", relationships: relationships !== "", semantic: semantic !== "" };
  const headings = noteHeadings(has);
  return `${headings.servers}${named}${headings.relationships}${relationships}${headings.semantic}${semantic}`;
}

const titles = {
  summary: [
    "Capability Index Summary",
    "A lightweight summary of the capability index for LLM context injection.",
    "Contains action verb → element mappings for quick tool selection guidance.",
  ],
  full: [
    "Capability Index (Full)",
    "Complete capability index including all element details, relationships, and semantic data.",
  ],
} as const;

/** Prepends the comments. */
export function withComments(
  variant: "summary" | "full",
  owner: IndexOwner,
  totalElements: number,
  body: IndexText,
  count: CountTokens,
): IndexText {
  const { comments, tokens, size } = commentsOf(variant, owner, totalElements, body, count);
  return { text: comments + body.text, tokens, size };
}

/**
 * The comments of an index, and what the whole text costs. The comments state the token count of the whole text, comments
 * included, so they are printed and counted until the figures are stable. The loop ends, because more digits never cost
 * fewer tokens.
 */
export function commentsOf(
  variant: "summary" | "full",
  owner: IndexOwner,
  totalElements: number,
  body: MeasuredText,
  count: CountTokens,
): MeasuredText & { comments: string } {
  const other = variant === "summary" ? "full" : "summary";
  const elsewhere = `${variant === "summary" ? "Full index" : "Summary version"} available at: ${indexUri(owner, other)}`;
  const print = (tokens: number, estimated: number, suits: string) => {
    const costs = `Tokens: ${tokens} measured (cl100k_base), ${estimated} estimated; ${suits}`;
    const lines = [...titles[variant], costs, elsewhere, `Total elements: ${totalElements}`];
    return `${lines.map((line) => `# ${line}\n`).join("")}\n`;
  };
  // Fixed before the loop, because its length does not grow with the count.
  const suits = contextHint(body.tokens + count(print(body.tokens, body.tokens, contextHint(body.tokens))));
  let [tokens, estimated] = [0, 0];
  for (;;) {
    const comments = print(tokens, estimated, suits);
    const size = addSizes(sizeOfText(comments), body.size);
    const [measured, guessed] = [count(comments) + body.tokens, estimateTokens(size)];
    if (measured === tokens && guessed === estimated) return { comments, tokens, size };
    [tokens, estimated] = [measured, guessed];
  }
}

/** Describes the contexts that a text of this many tokens suits: it takes a tenth of them, or less. */
export function contextHint(tokens: number): string {
  const context = smallestContext(tokens);
  return context === undefined
    ? `more than a tenth of a context of ${largestContext} tokens`
    : `suits contexts of ${context} tokens and more`;
}

/** JSON with the size of both variants, estimated and measured tokens. */
export function statsText(summary: MeasuredText, full: MeasuredText): string {
  const stats: IndexStats = {
    summarySize: summary.size.chars,
    summaryWords: summary.size.words,
    summaryLines: summary.size.lines,
    fullSize: full.size.chars,
    fullWords: full.size.words,
    fullLines: full.size.lines,
    estimatedSummaryTokens: estimateTokens(summary.size),
    estimatedFullTokens: estimateTokens(full.size),
    measuredSummaryTokens: summary.tokens,
    measuredFullTokens: full.tokens,
  };
  return JSON.stringify(stats, null, 2);
}

/** The first lines of an index for a budget. */
export function budgetHeader(tenant: string): string {
  return `# Capabilities of ${scalar(tenant)}; get_capability has the rest.\nelements:\n`;
}
