import { type SectionName, sectionNames } from "../manifest/schema/manifest.ts";
import type { CountTokens } from "../manifest/tokens.ts";
import type { ActionTriggers } from "./action-triggers.ts";
import type { IndexStats } from "./answer-schema.ts";
import { flow, flowList, keyLine, scalar } from "./print-yaml.ts";
import { addSizes, estimateTokens, sizeOfText, smallestContext, type TextSize } from "./token-estimate.ts";

/** Part of ETags and cache keys: change it with any change of the format. */
export const indexTextVersion = "i2";

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

interface IndexMetadata {
  /** `created`: earliest registration of a server in the index; `lastUpdated`: latest change. null without servers. */
  created: string | null;
  lastUpdated: string | null;
  totalElements: number;
}

/** A text with its token count and size. */
export interface IndexText {
  text: string;
  tokens: number;
  size: TextSize;
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

/** What to mind about elements of a summary, as comments: a summary has only their names. */
export function noticesBlock(notices: readonly string[]): string {
  const shown = notices.slice(0, maxNotices).map((notice) => `#   ${notice}\n`);
  const more = notices.length - shown.length;
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

/** The servers of the index, and the relationships and semantic data that publishers declare. */
export function notesBlock(servers: readonly IndexServerNote[]): string {
  const noted = servers.map(({ name, title, version, elements, notice }) => {
    const comment = notice === "" ? "" : `    # registry: ${notice}\n`;
    return `${comment}${keyLine("    ", name)} ${flow({ title, version, elements })}\n`;
  });
  const declared = (field: "relationships" | "semantic", indent: string) =>
    servers.flatMap((server) =>
      server[field] === undefined ? [] : [`${keyLine(indent, server.name)} ${flow(server[field])}\n`],
    );
  const relationships = declared("relationships", "    ");
  const semantic = declared("semantic", "  ");
  return [
    "relationships:\n",
    noted.length === 0 ? "  servers: {}\n" : `  servers:\n${noted.join("")}`,
    ...(relationships.length === 0 ? [] : [`  declared:\n${relationships.join("")}`]),
    semantic.length === 0 ? "semantic: {}\n" : `semantic:\n${semantic.join("")}`,
  ].join("");
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

/**
 * Prepends the comments. They state the token count of the whole text, comments included, so the comments are printed
 * and counted until the figures are stable. The loop ends, because more digits never cost fewer tokens.
 */
export function withComments(
  variant: "summary" | "full",
  owner: IndexOwner,
  totalElements: number,
  body: IndexText,
  count: CountTokens,
): IndexText {
  const other = variant === "summary" ? "full" : "summary";
  const elsewhere = `${variant === "summary" ? "Full index" : "Summary version"} available at: ${indexUri(owner, other)}`;
  const suits = contextHint(body.tokens);
  let [tokens, estimated] = [0, 0];
  for (;;) {
    const costs = `Tokens: ${tokens} measured (cl100k_base), ${estimated} estimated; ${suits}`;
    const lines = [...titles[variant], costs, elsewhere, `Total elements: ${totalElements}`];
    const comments = `${lines.map((line) => `# ${line}\n`).join("")}\n`;
    const size = addSizes(sizeOfText(comments), body.size);
    const [measured, guessed] = [count(comments) + body.tokens, estimateTokens(size)];
    if (measured === tokens && guessed === estimated) return { text: comments + body.text, tokens, size };
    [tokens, estimated] = [measured, guessed];
  }
}

/** Describes the context size that a text of this many tokens suits. */
export function contextHint(tokens: number): string {
  const context = smallestContext(tokens);
  return context === undefined ? "too large for the context of any model" : `for models with ${context}+ context`;
}

/** JSON with the size of both variants, estimated and measured tokens. */
export function statsText(summary: IndexText, full: IndexText): string {
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
