import { z } from "zod";
import { readIndex } from "../../capability-index/read.ts";
import { indexVariants } from "../../config.ts";
import { ServerName } from "../../kernel/names.ts";
import { ok } from "../../kernel/result.ts";
import { readOnlyAnnotations, tenant } from "./fields.ts";
import { defineTool } from "./tool.ts";

export const getCapabilityIndexTool = defineTool({
  name: "get_capability_index",
  title: "Get index",
  description: "All that a tenant or server has: by verb, in full, or its sizes.",
  input: z.strictObject({
    tenant,
    name: ServerName.optional(),
    variant: z.enum(indexVariants).default("summary"),
  }),
  output: z.object({ text: z.string(), generation: z.number() }),
  annotations: readOnlyAnnotations,
  async run({ tenant: owner, name, variant }, { services, principal }) {
    // Advertising limits the token cost of listed resources; an explicit call may read any readable index.
    const read = await readIndex(services, principal, { tenant: owner, name }, variant, { onlyAdvertised: false });
    if (!read.ok) return read;
    const { shown, generation } = read.value;
    return ok({ text: shown?.text ?? "", generation });
  },
});
