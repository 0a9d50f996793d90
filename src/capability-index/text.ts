import { type SectionName, sectionNames } from "../manifest/schema/manifest.ts";
import type { CountTokens } from "../manifest/tokens.ts";
import type { ActionTriggers } from "./action-triggers.ts";
import { flow, flowList, keyLine, scalar } from "./print-yaml.ts";
import { addSizes, estimateTokens, sizeOfText, smallestContext, type TextSize } from "./token-estimate.ts";

/** Raise it with any change of what is written. */
export const indexTextVersion = "i1";

/** The form of an index, in its metadata. */
const formatVersion = "1.0.0";

/** Whose index it is: a tenant's, a server's, or without either the registry's own. */
export interface IndexOwner {
  tenant?: string | undefined;
  name?: string | undefined;
}

export function indexUri({ tenant, name }: IndexOwner, variant: string): string {
  return ["rollcall://capability-index", tenant, name, variant].filter((part) => part !== undefined).join("/");
}

export interface IndexMetadata {
  /** When the first of what it covers was registered, and the last changed; null while there is nothing. */
  created: string | null;
  lastUpdated: string | null;
  totalElements: number;
}

/** A text with what it costs. */
export interface IndexText {
  text: string;
  tokens: number;
  size: TextSize;
}

/** What a server adds to an index besides its elements. */
export interface IndexServerNote {
  name: string;
  title?: string;
  version?: string;
  elements: number;
  relationships?: unknown;
  semantic?: unknown;
}

/**
 * An index is written in blocks that each end their last line and start with a line that is not blank. Text is cut
 * into words for counting at line ends, so the tokens of blocks add up to those of the whole.
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

/** Blocks of elements under the kinds they are of; a kind that has none is left out. */
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

/** Which servers have the elements, and what publishers say about how all of it belongs together. */
export function notesBlock(servers: readonly IndexServerNote[]): string {
  const noted = servers.map(({ name, title, version, elements }) => {
    return `${keyLine("    ", name)} ${flow({ title, version, elements })}\n`;
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
 * The comments on top and the text below them. They say what all of it costs, themselves included: the figures are
 * written, counted and written again until they are right. More digits only ever cost more, so that comes to an end.
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

/** For whom a text of so many tokens is, in words. */
export function contextHint(tokens: number): string {
  const context = smallestContext(tokens);
  return context === undefined ? "too large for the context of any model" : `for models with ${context}+ context`;
}

/** Figures about both variants: the eight that were always there, and what a tokenizer counted. */
export function statsText(summary: IndexText, full: IndexText): string {
  const stats = {
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
