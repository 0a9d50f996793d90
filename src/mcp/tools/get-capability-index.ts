import { z } from "zod";
import { readIndex } from "../../capability-index/read.ts";
import { indexVariants } from "../../config.ts";
import { failure } from "../../kernel/failure.ts";
import { err, ok } from "../../kernel/result.ts";
import { ownIndex } from "../resources/own-index.ts";
import { readOnlyAnnotations, serverRef } from "./fields.ts";
import { defineTool } from "./tool.ts";

export const getCapabilityIndexTool = defineTool({
  name: "get_capability_index",
  title: "Get index",
  description: "All that a server, a tenant or (default) this registry has: in full, by verb, or sizes.",
  input: z.strictObject({
    tenant: serverRef.tenant.optional(),
    name: serverRef.name.optional(),
    variant: z.enum(indexVariants).default("full"),
  }),
  output: z.object({ text: z.string(), generation: z.number().optional() }),
  annotations: readOnlyAnnotations,
  async run({ tenant: owner, name, variant }, { services, principal, tools }) {
    // Advertising limits the token cost of listed resources; an explicit call may read any readable index.
    if (owner === undefined) {
      if (name === undefined) return ok({ text: (await ownIndex(services, variant, tools)).text });
      const message = "Invalid arguments for get_capability_index: /tenant is missing: the owner of the server";
      return err(failure("ErrorToolArguments", message));
    }
    const read = await readIndex(services, principal, { tenant: owner, name }, variant, { onlyAdvertised: false });
    if (!read.ok) return read;
    const { shown, generation } = read.value;
    return ok({ text: shown?.text ?? "", generation });
  },
});
