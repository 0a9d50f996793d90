import { z } from "zod";
import { named } from "../http/named.ts";
import { ChainedChange, LogHead } from "../registry/change-chain.ts";

export const ChangePage = named(
  "ChangePage",
  z
    .object({
      items: z.array(ChainedChange),
      generation: z.int().describe("The tenant's generation."),
      nextSince: z.int().describe("`since` of the next page."),
      head: LogHead,
    })
    .describe("Entries of a log, the oldest first."),
);
export type ChangePage = z.infer<typeof ChangePage>;
