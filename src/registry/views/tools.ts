import type { StoredCapability } from "../../manifest/stored.ts";
import { itemRecords, serverRecord } from "../record.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { object, objects, text, versionOf } from "./fields.ts";
import { ToolCategory, type ToolsView } from "./schema.ts";
import { jsonView } from "./view.ts";

/** True for tools and for operations of imported APIs. */
export function isCallable({ kind }: Pick<StoredCapability, "kind">): boolean {
  return kind === "tool" || kind === "operation";
}

/** `capabilities://tools`. */
export const toolsView = jsonView("t2", (manifest, head): ToolsView => {
  const version = versionOf(manifest);
  const recordOf = itemRecords(head);
  const shown = enabledCapabilities(manifest, head);
  const tools = shown
    .filter(isCallable)
    .map((item) => ({ ...toolOf(item.declared, version), registry: recordOf(item) }));
  const byCategory = Object.groupBy(tools, ({ category }) => category);
  return {
    tools_by_category: Object.fromEntries(
      ToolCategory.options.flatMap((category) => (byCategory[category] ? [[category, byCategory[category]]] : [])),
    ),
    metadata: { total_count: tools.length, version },
    registry: serverRecord(head, tokensOf(shown)),
  };
});

/** Placeholder for values that the publisher did not declare. */
const unknown = "unknown";

export function toolOf(declared: Record<string, unknown>, manifestVersion: string) {
  const performance = object(declared.performance);
  return {
    name: text(declared.name),
    category: categoryOf(declared.category),
    description: text(declared.description) || text(declared.title),
    version: text(declared.version) || manifestVersion,
    input_schema: object(declared.inputSchema),
    output_schema: object(declared.outputSchema),
    examples: objects(declared.examples),
    common_errors: objects(declared.commonErrors) as { code: string; message: string }[],
    performance: {
      typical_ms: text(performance.typicalMs) || unknown,
      timeout_ms: text(performance.timeoutMs) || unknown,
    },
  };
}

/** A missing or custom category counts as `query`. */
function categoryOf(category: unknown): ToolCategory {
  const known = ToolCategory.safeParse(category);
  return known.success ? known.data : "query";
}
