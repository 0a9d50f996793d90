import type { z } from "zod";
import { ManifestHeader, type SectionName, sectionNames, sections } from "../schema/manifest.ts";
import { type Place, placeOf } from "./places.ts";

/**
 * Members whose own members are known, and read in both spellings. Nothing is renamed inside any other: schemas,
 * example inputs, `annotations`, `metadata` and `_meta` are the publisher's.
 */
const lookInto = [
  ...["performance", "commonErrors", "arguments", "parameters", "promptResponse", "icons"],
  ...["requirements", "upstreamDependencies", "expectedLatencyMs", "selectionStrategy"],
];

/** Members without a schema of their own that MCP, the importers or the index know. */
const alsoKnown = [
  ...["kind", "actionTriggers", "triggers", "deprecated", "deprecationReason"],
  ...["tags", "status", "annotations", "relationships", "semantic", "semantic_data"],
];
const alsoKnownIn: Partial<Record<SectionName, string[]>> = {
  tools: ["execution"],
  resources: ["size"],
};

function itemPlace(section: SectionName): Place {
  const schema: z.ZodType = sections[section].schema;
  return placeOf(schema, { lookInto, alsoKnown: [...alsoKnown, ...(alsoKnownIn[section] ?? [])] });
}

/** What is known of the items of each section. */
export const itemPlaces = Object.fromEntries(sectionNames.map((section) => [section, itemPlace(section)])) as Readonly<
  Record<SectionName, Place>
>;

/** What is known of a manifest itself, its sections included. */
export const headerPlace: Place = placeOf(ManifestHeader, {
  lookInto,
  alsoKnown: [
    ...sectionNames,
    ...["$schema", "name", "tenant", "id", "createdAt", "updatedAt", "instructions", "metadata", "elements", "tags"],
    "semantic_data",
  ],
});
