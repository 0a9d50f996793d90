import { z } from "zod";
import { type CapabilityKind, Generator, Operation, Prompt, Resource, ResourceTemplate, Tool } from "./capability.ts";
import { Description, Icon, JsonObject, Title, Version } from "./parts.ts";

/** The fields of a manifest other than its capabilities. */
export const ManifestHeader = z.looseObject({
  title: Title.optional(),
  description: Description.optional(),
  version: Version.optional(),
  serverInfo: z.looseObject({ name: z.string().max(1_024), version: z.string().max(255).optional() }).optional(),
  mcpVersion: z.string().max(255).optional(),
  protocolVersion: z.string().max(255).optional(),
  runtime: z.record(z.string(), z.string()).optional(),
  features: z.record(z.string(), z.boolean()).optional(),
  limits: z.record(z.string(), z.number()).optional(),
  concurrencyLimits: z.record(z.string(), z.number()).optional(),
  selectionStrategy: z
    .looseObject({ type: z.string().optional(), explanation: z.string().optional(), fallback: z.string().nullish() })
    .optional(),
  actionTriggers: z.record(z.string(), z.array(z.string())).optional(),
  relationships: z.unknown().optional(),
  semantic: z.unknown().optional(),
  websiteUrl: z.string().max(2_048).optional(),
  repository: z.looseObject({ url: z.string().optional(), source: z.string().optional() }).optional(),
  icons: z.array(Icon).optional(),
  remotes: z.array(JsonObject).optional(),
  packages: z.array(JsonObject).optional(),
  _meta: JsonObject.optional(),
});
export type ManifestHeader = z.infer<typeof ManifestHeader>;

/** Everything one server can do, at one moment. */
export const Manifest = z
  .looseObject({
    ...ManifestHeader.shape,
    tools: z.array(Tool).optional(),
    prompts: z.array(Prompt).optional(),
    resources: z.array(Resource).optional(),
    resourceTemplates: z.array(ResourceTemplate).optional(),
    generators: z.array(Generator).optional(),
    operations: z.array(Operation).optional(),
  })
  .describe("Everything one server can do, at one moment. Unknown keys are kept and returned.");
export type Manifest = z.infer<typeof Manifest>;

interface Section {
  kind: CapabilityKind;
  schema: z.ZodType<Record<string, unknown>>;
  /** Unique key of an item within its section. */
  key: (item: Record<string, unknown>) => string;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** The arrays of a manifest in display order, with the kind, schema and key of their items. */
export const sections = {
  tools: { kind: "tool", schema: Tool, key: (item) => text(item.name) },
  prompts: { kind: "prompt", schema: Prompt, key: (item) => text(item.name) },
  resources: { kind: "resource", schema: Resource, key: (item) => text(item.uri) },
  resourceTemplates: {
    kind: "resourceTemplate",
    schema: ResourceTemplate,
    key: (item) => text(item.uriTemplate) || text(Array.isArray(item.patterns) ? item.patterns[0] : undefined),
  },
  generators: { kind: "generator", schema: Generator, key: (item) => text(item.type) },
  operations: { kind: "operation", schema: Operation, key: (item) => text(item.name) },
} as const satisfies Record<string, Section>;

export type SectionName = keyof typeof sections;
export const sectionNames = Object.keys(sections) as SectionName[];

const sectionOf = new Map<CapabilityKind, SectionName>(sectionNames.map((name) => [sections[name].kind, name]));

export function sectionForKind(kind: CapabilityKind): SectionName {
  const name = sectionOf.get(kind);
  if (name === undefined) throw new Error(`no section for kind ${kind}`);
  return name;
}
