import { z } from "zod";
import { failure } from "../../kernel/failure.ts";
import { TenantKey } from "../../kernel/names.ts";
import { err, ok } from "../../kernel/result.ts";
import { callableKinds } from "../../manifest/model/definitions.ts";
import { CapabilityKind } from "../../manifest/schema/capability.ts";
import { definitionsOf } from "../../registry/definitions/definitions.ts";
import { DefinitionFormat } from "../../registry/definitions/schema.ts";
import { filterOf, plainFilters } from "../../search/filters.ts";
import { searchDimensions } from "../../search/index/facets.ts";
import { checkSearchLimit } from "../../search/limit.ts";
import { choiceInclude } from "../../search/schema.ts";
import { shownFacets } from "../../search/search.ts";
import { searchCards, searchScope, shownCard } from "../../search/visible-cards.ts";
import { card, readOnlyAnnotations } from "./fields.ts";
import { defineTool } from "./tool.ts";

export const searchCapabilitiesTool = defineTool({
  name: "search_capabilities",
  title: "Search capabilities",
  description: "Capabilities for a task, best first.",
  input: z.strictObject({
    task: z.string().min(1).max(10_000),
    kinds: z.array(CapabilityKind).max(CapabilityKind.options.length).optional(),
    tenants: z.array(TenantKey).max(16).optional(),
    // One member: as many as the search has, each with its schema, would cost every client too many tokens.
    filters: z.record(z.string(), z.array(z.string())).optional(),
    prefix: z.boolean().optional(),
    facets: z.boolean().optional(),
    definitions: DefinitionFormat.optional(),
    include: choiceInclude.optional(),
    limit: z.int().min(1).max(100).default(10),
  }),
  spellings: { task: ["q", "query"] },
  output: z.object({ items: z.array(z.object(card)) }),
  annotations: readOnlyAnnotations,
  async run(
    { task: text, kinds, tenants, filters = {}, prefix, facets, definitions, include, limit },
    { services, principal },
  ) {
    const given = z.strictObject(plainFilters).safeParse(filters);
    if (!given.success) {
      const known = Object.keys(plainFilters).join(", ");
      return err(failure("ErrorToolArguments", `\`filters\` has lists of values by name: ${known}`));
    }
    const query = { text, prefix, limit, kinds: kinds ?? (definitions && callableKinds), ...filterOf(given.data) };
    const limited = checkSearchLimit(services, principal);
    if (limited !== undefined) return err(limited);
    const counted = facets ? searchDimensions : undefined;
    const found = await searchCards(services, searchScope(principal, tenants), { ...query, facets: counted });
    const items = found.cards.slice(0, limit).map(shownCard);
    const page = { items, facets: found.facets && shownFacets(found.facets) };
    if (definitions === undefined) return ok(page);
    return ok({ ...page, ...(await definitionsOf(services, principal, items, definitions, include)) });
  },
});
