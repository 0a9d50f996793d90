import { z } from "zod";
import { listServers } from "../../registry/servers.ts";
import { readOnlyAnnotations, tenant } from "./fields.ts";
import { defineTool } from "./tool.ts";

export const listServersTool = defineTool({
  name: "list_servers",
  title: "List servers",
  description: "Servers you may see: your tenants' and public ones.",
  input: z.strictObject({
    tenant: tenant.describe("Only this owner's.").optional(),
    limit: z.int().min(1).max(100).default(30),
    cursor: z.string().describe("nextCursor of the page before.").optional(),
  }),
  output: z.object({
    items: z.array(
      z.object({
        tenant: z.string(),
        name: z.string(),
        description: z.string().optional(),
        version: z.string().optional(),
        visibility: z.enum(["tenant", "public"]),
        counts: z.record(z.string(), z.number()).optional(),
        tokens: z.number().optional(),
        digest: z.string().optional(),
      }),
    ),
    generation: z.number(),
    nextCursor: z.string().optional(),
    changed: z.boolean().optional(),
  }),
  annotations: readOnlyAnnotations,
  run({ tenant: owner, limit, cursor }, { services, principal }) {
    return listServers(services, principal, { whose: "visible", tenant: owner }, { limit, cursor });
  },
});
