import { actionTriggers } from "../../capability-index/action-triggers.ts";
import { countedBody, type IndexBlock } from "../../capability-index/blocks.ts";
import { elementBlock, type IndexElement, labelOf } from "../../capability-index/elements.ts";
import {
  elementsBlocks,
  type IndexText,
  metadataBlock,
  notesBlock,
  statsText,
  triggersBlock,
  withComments,
} from "../../capability-index/text.ts";
import { sizeOfText } from "../../capability-index/token-estimate.ts";
import type { IndexVariant } from "../../config.ts";
import { withoutPauses } from "../../kernel/pace/pace.ts";
import { service, version } from "../../kernel/version.ts";
import { definitionOf } from "../../manifest/definition.ts";
import { type SectionName, sectionForKind } from "../../manifest/schema/manifest.ts";
import { loadTokenizer } from "../../manifest/tokens.ts";
import { recordText } from "../../registry/record-text.ts";
import type { McpDeps } from "../deps.ts";
import type { ListedTool } from "../schema.ts";
import { ownResources, ownResourceTemplates } from "./own-resources.ts";

let rendered: Record<IndexVariant, IndexText> | undefined;

/**
 * The index of the registry's own tools and resources. It changes only with a deployment. The tools are handed over,
 * because one of them reads this index.
 */
export async function ownIndex(
  services: McpDeps,
  variant: IndexVariant,
  tools: readonly ListedTool[],
): Promise<IndexText> {
  // Cache the result, not the promise: a promise belongs to the request that created it.
  rendered ??= await render(services, tools);
  return rendered[variant];
}

async function render(services: McpDeps, tools: readonly ListedTool[]): Promise<Record<IndexVariant, IndexText>> {
  const elements = ownElements(tools);
  const count = await loadTokenizer();
  const costOf = ({ kind, declared }: IndexElement) =>
    recordText({ tokens: count(JSON.stringify(definitionOf(kind, declared))), flags: [], status: "active" });
  const triggers = actionTriggers(
    elements.map((element) => ({ ...element, declared: undefined, label: labelOf(element, false) })),
  );
  // The registry's own index is never registered or updated, so it has no times.
  const metadata = { created: null, lastUpdated: null, totalElements: elements.length };
  const blocks: IndexBlock[] = [{ text: metadataBlock(metadata) }, { text: triggersBlock(triggers) }];
  const sections = new Map<SectionName, IndexBlock[]>(
    [...Map.groupBy(elements, ({ kind }) => sectionForKind(kind))].map(([section, some]) => [
      section,
      some.map((element) => ({ text: elementBlock(element, false, costOf(element)) })),
    ]),
  );
  const more: IndexBlock[] = [
    ...elementsBlocks<IndexBlock>(sections, (text) => ({ text })),
    { text: notesBlock([{ name: service, version, elements: elements.length, notice: "" }]) },
  ];
  const summary = withComments(
    "summary",
    {},
    elements.length,
    await countedBody(services, blocks, withoutPauses),
    count,
  );
  const full = withComments(
    "full",
    {},
    elements.length,
    await countedBody(services, [...blocks, ...more], withoutPauses),
    count,
  );
  const stats = statsText(summary, full);
  return { summary, full, stats: { text: stats, tokens: count(stats), size: sizeOfText(stats) } };
}

function ownElements(tools: readonly ListedTool[]): IndexElement[] {
  const element = (kind: IndexElement["kind"], key: string, declared: object): IndexElement => ({
    server: service,
    kind,
    key,
    id: key,
    declared: { ...declared },
  });
  return [
    ...tools.map((tool) => element("tool", tool.name, tool)),
    ...ownResources.map((resource) => element("resource", resource.uri, resource)),
    ...ownResourceTemplates.map((template) => element("resourceTemplate", template.uriTemplate, template)),
  ];
}
