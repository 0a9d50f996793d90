import type { StoredCapability } from "../../manifest/stored.ts";
import { itemRecords, serverRecord } from "../record.ts";
import type { ItemRecord } from "../record-schema.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { familyNames } from "./family-names.ts";
import { objects, text, texts, versionOf } from "./fields.ts";
import type { ResourcesView } from "./schema.ts";
import { jsonView } from "./view.ts";

/** `capabilities://resources`. */
export const resourcesView = jsonView("r4", (manifest, head): ResourcesView => {
  const shown = enabledCapabilities(manifest, head);
  const resources = families(shown, itemRecords(head));
  const metadata = { total_count: Object.keys(resources).length, version: versionOf(manifest) };
  return { resources, metadata, registry: serverRecord(head, tokensOf(shown)) };
});

type Families = ResourcesView["resources"];
type Family = Families[string];

/** Groups resources and resource templates into families. */
export function families(
  capabilities: readonly StoredCapability[],
  recordOf: (item: StoredCapability) => ItemRecord,
): Families {
  const found = new Map<string, Family>();
  const names = familyNames(capabilities.filter(({ kind }) => kind === "resource" || kind === "resourceTemplate"));
  for (const [item, { name, isDeclared }] of names) {
    const { kind, declared } = item;
    const declaredPatterns = texts(declared.patterns);
    const uri = text(declared.uri) || text(declared.uriTemplate);
    // What this view prints can be published, and then has the template among its patterns.
    const patterns = [...new Set(uri === "" ? declaredPatterns : [uri, ...declaredPatterns])];
    merge(found, name, isDeclared, {
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

/** Merges a family; where both have a value, the first one wins. Items that only share a scheme are all described. */
function merge(found: Map<string, Family>, name: string, isDeclared: boolean, next: Family): void {
  const family = found.get(name);
  if (family === undefined) {
    found.set(name, next);
    return;
  }
  found.set(name, {
    patterns: [...new Set([...family.patterns, ...next.patterns])],
    mime_type: family.mime_type || next.mime_type,
    description: isDeclared
      ? family.description || next.description
      : bothDescriptions(family.description, next.description),
    parameters: { ...next.parameters, ...family.parameters },
    examples: [...new Set([...family.examples, ...next.examples])],
    registry: { items: [...recordsOf(family), ...recordsOf(next)] },
  });
}

function recordsOf({ registry }: Family): ItemRecord[] {
  return registry?.items ?? [];
}

/** Characters of the descriptions of a family's items, together. */
const maxDescription = 500;
const more = "; …";

function bothDescriptions(first: string, second: string): string {
  if (first.endsWith(more) || `; ${first}; `.includes(`; ${second}; `)) return first;
  const both = [first, second].filter((description) => description !== "").join("; ");
  return both.length <= maxDescription ? both : `${first}${more}`;
}
