import { z } from "zod";
import { err } from "../../domain/result.ts";
import { selectFrom } from "../../reading/generators.ts";
import { readManifest } from "../../reading/manifest.ts";
import { advance, defineTool } from "../tool.ts";
import { config, reading, serverRef } from "./fields.ts";

export const selectGeneratorTool = defineTool({
  name: "select_generator",
  title: "Select a generator",
  description: "Which of a server's generators a config is for, and why.",
  input: z.strictObject({ ...serverRef, config }),
  output: z.object({
    type: z.string(),
    confidence: z.enum(["high", "medium", "low"]),
    rule: z.string(),
    reason: z.string(),
    candidates: z.array(z.object({ type: z.string(), reason: z.string() })).describe("What else matched."),
  }),
  annotations: reading,
  async run({ tenant, name, config: given }, context) {
    const published = await readManifest(context.services, context.principal, { tenant, name });
    if (!published.ok) return published;
    const stopped = advance(context, 1, 2, "Comparing the config with the generators");
    return stopped === undefined ? selectFrom(published.value, given) : err(stopped);
  },
});
