import { z } from "zod";
import { err, ok } from "../../kernel/result.ts";
import { contextAnswer, contextParameters } from "../../sessions/context/capability.ts";
import { chooseContext } from "../../sessions/context/choose.ts";
import { ContextFields, contextSpellings } from "../../sessions/schema.ts";
import { card, readOnlyAnnotations } from "./fields.ts";
import { advance, defineTool } from "./tool.ts";

export const negotiateContextTool = defineTool({
  name: "negotiate_context",
  title: "Fit a budget",
  description: "What fits a task and a budget: must-haves, pins, then the best.",
  input: ContextFields,
  spellings: contextSpellings,
  output: z.object({
    used_tokens: z.number(),
    satisfied: z.boolean(),
    items: z.array(z.object({ ...card, why: z.string() })),
    left_out: z.array(z.object({ id: z.string(), reason: z.string(), message: z.string() })),
    changed: z.array(z.looseObject({})),
  }),
  annotations: readOnlyAnnotations,
  async run(wish, context) {
    const { services, principal } = context;
    const bounds = { kinds: contextParameters.kinds, maxItems: contextParameters.max_items };
    const chosen = await chooseContext(services, principal, wish, bounds);
    const stopped = advance(context, 1, 2, "Chosen; comparing pins");
    if (stopped !== undefined) return err(stopped);
    return ok(await contextAnswer(services, principal, wish, chosen));
  },
});
