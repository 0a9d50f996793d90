import { z } from "zod";
import { ok } from "../../kernel/result.ts";
import { capabilityText, readCapability } from "../../registry/capability.ts";
import { capabilityDocument } from "../../registry/views/capability.ts";
import { readOnlyAnnotations, tenant } from "./fields.ts";
import { defineTool } from "./tool.ts";

export const getCapabilityTool = defineTool({
  name: "get_capability",
  title: "Get a capability",
  description: "One tool, prompt, resource, generator or operation, with its schema, digest and flags.",
  input: z.strictObject({
    tenant,
    id: z.string().max(10_000).describe("As lists and searches give it."),
    format: z.enum(["json", "yaml", "rtfs"]).default("json"),
  }),
  output: z.object({
    capability: z.record(z.string(), z.unknown()).describe("For json.").optional(),
    text: z.string().describe("For yaml, rtfs.").optional(),
    losses: z.array(z.string()).describe("What rtfs cannot say.").optional(),
    generation: z.number(),
  }),
  annotations: readOnlyAnnotations,
  async run({ tenant: owner, id, format }, { services, principal }) {
    const found = await readCapability(services, principal, owner, id);
    if (!found.ok) return found;
    const { generation } = found.value;
    const capability = capabilityDocument(found.value, { hints: false });
    if (format === "json") return ok({ capability, generation });
    const { text, losses } = capabilityText(format, capability);
    return ok({ text, losses: format === "rtfs" ? losses : undefined, generation });
  },
});
