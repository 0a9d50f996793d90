import { z } from "zod";
import { readChanges } from "../../changes/read.ts";
import { ok } from "../../kernel/result.ts";
import { change, readOnlyAnnotations, tenant } from "./fields.ts";
import { defineTool } from "./tool.ts";

export const whatsChangedTool = defineTool({
  name: "whats_changed",
  title: "List changes",
  description: "The log of changes in a tenant of yours, oldest first.",
  input: z.strictObject({
    tenant,
    since: z.int().min(0).max(1e15).default(0).describe("nextSince of the last answer."),
    limit: z.int().min(1).max(1_000).default(100),
  }),
  output: z.object({
    items: z.array(z.object({ sequence: z.number(), at: z.string(), server: z.string(), ...change })),
    generation: z.number(),
    nextSince: z.number(),
  }),
  annotations: readOnlyAnnotations,
  async run({ tenant: owner, since, limit }, { services, principal }) {
    const read = await readChanges(services, principal, owner, { since, limit });
    if (!read.ok) return read;
    const { items, generation, nextSince } = read.value;
    // Without hashes: a model cannot verify them and pays for their tokens. The HTTP route has them.
    return ok({ items: items.map(({ previous, hash, ...entry }) => entry), generation, nextSince });
  },
});
