import { z } from "zod";
import { type Failure, failure } from "../../kernel/failure.ts";
import { digestPattern, serverPattern, TenantName, tenantPattern } from "../../kernel/names.ts";
import { err, type Result } from "../../kernel/result.ts";
import { credentialPattern } from "../../registry/views/schema.ts";
import type { JsonSchema, ListedTool } from "../schema.ts";
import { diffCapabilitiesTool } from "./diff-capabilities.ts";
import { preflightGeneratorTool, selectGeneratorTool } from "./generators.ts";
import { getCapabilityTool } from "./get-capability.ts";
import { getCapabilityIndexTool } from "./get-capability-index.ts";
import { listServersTool } from "./list-servers.ts";
import { negotiateContextTool } from "./negotiate-context.ts";
import { searchCapabilitiesTool } from "./search-capabilities.ts";
import type { OwnTool, ToolContext } from "./tool.ts";
import { whatsChangedTool } from "./whats-changed.ts";

/** The registry's own tools. The order must stay stable, because clients cache the list. */
export const ownTools: readonly OwnTool[] = [
  listServersTool,
  getCapabilityTool,
  selectGeneratorTool,
  preflightGeneratorTool,
  diffCapabilitiesTool,
  whatsChangedTool,
  searchCapabilitiesTool,
  negotiateContextTool,
  getCapabilityIndexTool,
];

let listed: readonly ListedTool[] | undefined;

export function listTools(): readonly ListedTool[] {
  listed ??= ownTools.map(({ name, title, description, input, output, annotations }) => ({
    name,
    title,
    description,
    inputSchema: jsonSchemaOf(input),
    outputSchema: jsonSchemaOf(output),
    annotations,
  }));
  return listed;
}

export async function callTool(name: string, input: unknown, context: ToolContext): Promise<Result<object, Failure>> {
  const tool = ownTools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool.run(input, { ...context, tools: listTools() });
  const names = ownTools.map((candidate) => candidate.name).join(", ");
  const message = `Unknown tool ${JSON.stringify(name.slice(0, 128).toWellFormed())}; available: ${names}`;
  return err(failure("ErrorToolNotFound", message));
}

/**
 * Patterns that are checked but left out of the listed schemas to save tokens: clients copy names and digests from
 * other responses.
 */
const unlistedPatterns: unknown[] = [tenantPattern, serverPattern, digestPattern, credentialPattern].map(
  ({ source }) => source,
);

/** JSON Schema without redundant keywords, because clients pay for it in tokens. */
function jsonSchemaOf(schema: z.ZodObject): JsonSchema {
  // The listed tool has its own description.
  const {
    $schema: _,
    description: __,
    ...written
  } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      if (unlistedPatterns.includes(jsonSchema.pattern)) delete jsonSchema.pattern;
      // Far from what anyone writes; who goes beyond is told.
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      // No ordinary call comes near these limits; a call that does is told.
      if ((jsonSchema.maxItems ?? 0) >= 1_000) delete jsonSchema.maxItems;
      if ((jsonSchema.maximum ?? 0) >= 1e9) delete jsonSchema.maximum;
      if ((jsonSchema.items as JsonSchema | undefined)?.enum !== undefined) delete jsonSchema.maxItems;
      if (jsonSchema.description === TenantName.description) delete jsonSchema.description;
      if (isJson(jsonSchema.propertyNames, '{"type":"string"}')) delete jsonSchema.propertyNames;
      if (isJson(jsonSchema.additionalProperties, "{}")) delete jsonSchema.additionalProperties;
    },
  });
  return written as JsonSchema;
}

function isJson(value: unknown, text: string): boolean {
  return JSON.stringify(value) === text;
}
