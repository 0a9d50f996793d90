import { z } from "zod";
import { err } from "../../domain/result.ts";
import { preflightOf } from "../../reading/generators.ts";
import { readManifest } from "../../reading/manifest.ts";
import { PreflightRequest } from "../../schemas/index.ts";
import { advance, defineTool } from "../tool.ts";
import { reading, serverRef } from "./fields.ts";

export const preflightGeneratorTool = defineTool({
  name: "preflight_generator",
  title: "Check a generator",
  description: "Whether a generator could run on a config: what is missing, timeout, concurrency.",
  input: z.strictObject({ ...serverRef, type: z.string().max(128), ...PreflightRequest.shape }),
  output: z.object({
    type: z.string(),
    ready: z.boolean(),
    missing_fields: z.array(z.string()),
    missing_credentials: z.array(z.string()),
    dependencies: z.array(z.string()),
    timeout_ms: z.number().nullable(),
    concurrency: z.object({ safe: z.boolean(), advice: z.string() }),
    reasons: z.array(z.string()),
  }),
  annotations: reading,
  async run({ tenant, name, type, ...request }, context) {
    const published = await readManifest(context.services, context.principal, { tenant, name });
    if (!published.ok) return published;
    const stopped = advance(context, 1, 2, "Checking what the generator needs");
    return stopped === undefined ? preflightOf(published.value, type, request) : err(stopped);
  },
});
