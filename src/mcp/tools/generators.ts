import { z } from "zod";
import { err } from "../../kernel/result.ts";
import { preflightOf, selectFrom } from "../../registry/generators/read.ts";
import { readManifest } from "../../registry/read.ts";
import { PreflightRequest } from "../../registry/views/schema.ts";
import { config, readOnlyAnnotations, serverRef } from "./fields.ts";
import { advance, defineTool } from "./tool.ts";

export const preflightGeneratorTool = defineTool({
  name: "preflight_generator",
  title: "Check a generator",
  description: "Whether a generator could run on a config: what is missing, timeout, concurrency.",
  input: z.strictObject({
    ...serverRef,
    type: z.string().max(128),
    config: config.default({}),
    credentials: PreflightRequest.shape.credentials.describe("Names of those you have."),
    dependencies: PreflightRequest.shape.dependencies.describe("Packages you have."),
  }),
  output: z.object({
    type: z.string(),
    status: z.string(),
    ready: z.boolean(),
    missing_fields: z.array(z.string()),
    missing_credentials: z.array(z.string()),
    missing_dependencies: z.array(z.string()),
    dependencies: z.array(z.string()),
    unchecked: z.array(z.string()),
    timeout_ms: z.number().nullable(),
    // Its members are as in `Preflight`; listing them would cost every client tokens.
    concurrency: z.record(z.string(), z.unknown()),
    reasons: z.array(z.string()),
  }),
  annotations: readOnlyAnnotations,
  async run({ tenant, name, type, ...request }, context) {
    const published = await readManifest(context.services, context.principal, { tenant, name });
    if (!published.ok) return published;
    const stopped = advance(context, 1, 2, "Checking what the generator needs");
    return stopped === undefined ? preflightOf(published.value, type, request) : err(stopped);
  },
});

export const selectGeneratorTool = defineTool({
  name: "select_generator",
  title: "Select a generator",
  description: "Which of a server's generators a config is for, and why.",
  input: z.strictObject({ ...serverRef, config }),
  output: z.object({
    type: z.string().nullable(),
    confidence: z.enum(["high", "medium", "low"]),
    rule: z.string(),
    reason: z.string(),
    deprecated: z.boolean().optional(),
    notes: z.array(z.string()),
    candidates: z.array(z.object({ type: z.string(), reason: z.string() })),
  }),
  annotations: readOnlyAnnotations,
  async run({ tenant, name, config: given }, context) {
    const published = await readManifest(context.services, context.principal, { tenant, name });
    if (!published.ok) return published;
    const stopped = advance(context, 1, 2, "Comparing the config with the generators");
    return stopped === undefined ? selectFrom(published.value, given) : err(stopped);
  },
});
