import { z } from "zod";
import { named } from "../http/named.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { LeftOutDefinition, modelDefinitionsFields } from "../registry/definitions/schema.ts";
import { choiceOptions } from "../registry/record.ts";
import { Flag, RegistryRecord } from "../registry/record-schema.ts";
import { ServerStatus } from "../registry/schema.ts";
import { searchDimensions } from "./index/facets.ts";

/** A card in answers. */
export const ShownCard = z.object({
  id: z.string().describe("Unique in its tenant."),
  tenant: z.string(),
  server: z.string(),
  kind: CapabilityKind,
  name: z.string().describe("Name, URI, URI template or generator type."),
  digest: z.string(),
  tokens: z.int().describe("Cost of the definition, in tokens."),
  flags: z.array(Flag),
  status: ServerStatus,
  version: z.string().optional().describe("Declared by the item, else by its server."),
  title: z.string().optional(),
  description: z.string().optional().describe("The first few hundred characters."),
  registry: RegistryRecord,
});
export type ShownCard = z.infer<typeof ShownCard>;

const Highlights = z
  .array(z.tuple([z.int(), z.int()]))
  .describe("Words of the task in a text, as start and end in UTF-16 code units; the client decides how to mark them.");

export const SearchResult = named(
  "SearchResult",
  z.object({
    ...ShownCard.shape,
    score: z.number().describe("Relative to the best result."),
    highlights: z.object({
      name: Highlights.optional(),
      title: Highlights.optional(),
      description: Highlights.optional(),
    }),
    alike: z.literal(true).optional().describe("Nearly the same as an earlier result."),
    why: z
      .object({
        words: z.number().describe("Word match, relative to the best match for the same step."),
        meaning: z.number().optional().describe("Similarity in meaning, relative to the most similar for the step."),
        clause: z.int().optional().describe("The step of the task that matches best, counted from 0."),
        terms: z.array(z.string()),
      })
      .optional()
      .describe("With `explain`: what the result was found by."),
  }),
);
export type SearchResult = z.infer<typeof SearchResult>;

const LeftOutResult = z.object({
  id: z.string(),
  tenant: z.string(),
  server: z.string(),
  name: z.string(),
  tokens: z.int(),
  reason: z.enum([...choiceOptions, "over-budget"]),
  message: z.string(),
});
export type LeftOutResult = z.infer<typeof LeftOutResult>;

/** Asks a choice to take what it would leave out. */
export const choiceInclude = z.array(z.enum(choiceOptions)).max(choiceOptions.length);

/** Values shown of one dimension. */
export const maxFacetValues = 30;

const SearchFacets = z
  .partialRecord(
    z.enum(searchDimensions),
    z.object({
      values: z.array(z.object({ value: z.string(), count: z.int() })),
      more: z.literal(true).optional().describe("There are more values."),
    }),
  )
  .describe("With `facets`: how many of all items that match have each value, the most frequent first.");

export const SearchPage = named(
  "SearchPage",
  z
    .object({
      items: z.array(SearchResult),
      usedTokens: z.int().describe("Tokens of the results on this page and the pages before."),
      leftOut: z
        .array(z.union([LeftOutResult, LeftOutDefinition]))
        .optional()
        .describe(
          "With a budget: the first results that are not in it, up to the last one here. With `definitions`: what is not sent.",
        ),
      moreLeftOut: z.int().optional().describe("Number of such results that are not listed."),
      definitions: modelDefinitionsFields.definitions.optional(),
      tokens: modelDefinitionsFields.tokens.optional(),
      names: modelDefinitionsFields.names.optional(),
      facets: SearchFacets.optional(),
      steps: z.int().optional().describe("Steps that the task was split into, if several."),
      generation: z.int().describe("Changes when anything that was searched changes."),
      nextCursor: z.string().optional(),
      skippedTenants: z
        .array(z.string())
        .optional()
        .describe("Tenants of the caller beyond the limit per search: only their public capabilities are found."),
    })
    .describe("A page of capabilities in order of rank."),
);
export type SearchPage = z.infer<typeof SearchPage>;
