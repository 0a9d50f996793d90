import { z } from "zod";
import { Digest } from "../../kernel/names.ts";
import { ok } from "../../kernel/result.ts";
import { diffRevisions } from "../../registry/revisions.ts";
import { change, readOnlyAnnotations, serverRef } from "./fields.ts";
import { advance, defineTool } from "./tool.ts";

export const diffCapabilitiesTool = defineTool({
  name: "diff_capabilities",
  title: "Compare revisions",
  description: "What changed between two revisions of a server of yours, classified.",
  input: z.strictObject({
    ...serverRef,
    from: Digest.describe("The earlier."),
    to: Digest.describe("Default: the present.").optional(),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    counts: z.record(z.string(), z.number()),
    changes: z.array(z.object(change)),
    generation: z.number(),
  }),
  annotations: readOnlyAnnotations,
  async run({ tenant, name, from, to }, context) {
    const step = (done: number, total: number, message: string) => advance(context, done, total, message);
    const { services, principal } = context;
    const read = await diffRevisions(services, principal, { tenant, name }, { from, to }, { step });
    return read.ok ? ok({ ...read.value.diff, generation: read.value.generation }) : read;
  },
});
