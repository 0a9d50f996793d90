import type { StoredCapability } from "../../manifest/stored.ts";
import { itemRecords, serverRecord } from "../record.ts";
import type { ItemRecord } from "../record-schema.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { objects, text, texts, versionOf } from "./fields.ts";
import type { ResourcesView } from "./schema.ts";
import { jsonView } from "./view.ts";

/** `capabilities://resources`. */
export const resourcesView = jsonView("r3", (manifest, head): ResourcesView => {
  const shown = enabledCapabilities(manifest, head);
  const resources = families(shown, itemRecords(head));
  const metadata = { total_count: Object.keys(resources).length, version: versionOf(manifest) };
  return { resources, metadata, registry: serverRecord(head, tokensOf(shown)) };
});

type Families = ResourcesView["resources"];
type Family = Families[string];

/**
 * Groups resources and resource templates into families: by name if the publisher declares `patterns`, else by URI
 * scheme.
 */
export function families(
  capabilities: readonly StoredCapability[],
  recordOf: (item: StoredCapability) => ItemRecord,
): Families {
  const found = new Map<string, Family>();
  for (const item of capabilities) {
    const { kind, declared } = item;
    if (kind !== "resource" && kind !== "resourceTemplate") continue;
    const declaredPatterns = texts(declared.patterns);
    const uri = text(declared.uri) || text(declared.uriTemplate);
    const patterns = uri === "" ? declaredPatterns : [uri, ...declaredPatterns];
    const name = (declaredPatterns.length > 0 && text(declared.name)) || schemeOf(patterns[0] ?? "");
    merge(found, name, {
      patterns,
      mime_type: text(declared.mimeType),
      // An empty description stays one: what this view prints can be published.
      description: typeof declared.description === "string" ? declared.description : text(declared.name),
      parameters: parametersOf(declared),
      examples: kind === "resource" ? [uri] : texts(declared.examples),
      registry: { items: [recordOf(item)] },
    });
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function schemeOf(pattern: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(pattern)?.[1]?.toLowerCase() ?? "other";
}

function parametersOf(declared: Record<string, unknown>): Family["parameters"] {
  return Object.fromEntries(
    objects(declared.parameters).map((parameter) => {
      const values = texts(parameter.enum);
      const type = text(parameter.type) || "string";
      const description = text(parameter.description);
      return [text(parameter.name), { type, description, enum: values.length > 0 ? values : undefined }];
    }),
  );
}

/** Merges a family; where both have a value, the first one wins. */
function merge(found: Map<string, Family>, name: string, next: Family): void {
  const family = found.get(name);
  if (family === undefined) {
    found.set(name, next);
    return;
  }
  found.set(name, {
    patterns: [...new Set([...family.patterns, ...next.patterns])],
    mime_type: family.mime_type || next.mime_type,
    description: family.description || next.description,
    parameters: { ...next.parameters, ...family.parameters },
    examples: [...new Set([...family.examples, ...next.examples])],
    registry: { items: [...recordsOf(family), ...recordsOf(next)] },
  });
}

function recordsOf({ registry }: Family): ItemRecord[] {
  return registry?.items ?? [];
}
