import { z } from "zod";
import type { Principal } from "../auth/principal.ts";
import { anyone } from "../http/access.ts";
import { unwrap } from "../http/context.ts";
import { operation } from "../http/operation.ts";
import {
  flag,
  ifNoneMatch,
  minGenerationPerTenant,
  names,
  page,
  refused,
  required,
  whole,
} from "../http/parameters.ts";
import { digestOfText } from "../kernel/digest.ts";
import { TenantKey } from "../kernel/names.ts";
import { callableKinds } from "../manifest/model/definitions.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { definitionsOf } from "../registry/definitions/definitions.ts";
import { DefinitionFormat } from "../registry/definitions/schema.ts";
import { type ChoiceOption, choiceOptions } from "../registry/record.ts";
import type { SearchDeps } from "./deps.ts";
import { SearchPage } from "./schema.ts";
import { searchCapabilities } from "./search.ts";

/** Values of one filter. */
const maxValues = 20;

/** Part of the ETag: change it whenever the response format changes. */
const version = "s2";

const search = operation({
  id: "searchCapabilities",
  method: "get",
  path: "/api/search",
  tag: "Find",
  summary: "Find capabilities for a task",
  description:
    "Capabilities for a task in plain words, the best first: public ones, and those of the caller's own tenants. " +
    "A task of several steps is searched step by step.",
  access: anyone,
  parameters: {
    query: {
      task: required(z.string().max(10_240), "describe it in plain words").describe("The task in plain words."),
      kind: z.array(CapabilityKind).max(maxValues).optional().describe("Only capabilities of these kinds."),
      tenant: z.array(TenantKey).max(maxValues).optional().describe("Only capabilities of these tenants."),
      budget: whole(1, 1_000_000_000)
        .optional()
        .describe("Tokens that all results together may cost; what does not fit is left out."),
      include: names(choiceOptions)
        .optional()
        .describe(
          "With a budget or definitions, what is not to be left out: items with a high flag, withdrawn servers.",
        ),
      definitions: DefinitionFormat.optional().describe(
        "Adds the definitions of the tools and operations that were found, for this API.",
      ),
      explain: flag.default(false).describe("Says of each result what it was found by."),
      ...page(10),
    },
    aliases: { task: ["q", "query"], budget: ["token_budget"] },
    headers: {
      "If-None-Match": ifNoneMatch,
      "Rollcall-Min-Generation": refused(minGenerationPerTenant),
    },
  },
  answers: {
    200: {
      description: "A page in order of rank.",
      data: SearchPage,
      etag: true,
      generation: true,
    },
  },
  fails: ["ErrorCursorExpired"],
  examples: {
    rain: { query: { task: "will it rain tomorrow", limit: 3 } },
    definitions: {
      summary: "As tools of a model",
      query: { task: "will it rain tomorrow", limit: 3, definitions: "anthropic" },
    },
  },

  async handle(services: SearchDeps, { principal, query, answer }) {
    const { task: text, kind, tenant, budget, include, definitions, explain, limit, cursor } = query;
    const kinds = distinct(kind) ?? (definitions && [...callableKinds]);
    const filter = { kinds, tenants: distinct(tenant) };
    const found = unwrap(
      await searchCapabilities(
        services,
        principal,
        { text, budget, include: distinct(include), explain, ...filter },
        { limit, cursor },
      ),
    );
    const data =
      definitions === undefined ? found : await withDefinitions(services, principal, found, definitions, include);
    // The ETag does not cover cursor and generation, which change with every write of any tenant.
    const { generation, nextCursor: _, ...lasting } = data;
    const etag = `W/"${version}-${(await digestOfText(JSON.stringify(lasting))).slice(7, 39)}"`;
    return answer(200, data, { etag, generation, source: "object" });
  },
});

/** A page with the definitions of its results; both may leave something out. */
async function withDefinitions(
  services: SearchDeps,
  principal: Principal,
  found: SearchPage,
  format: DefinitionFormat,
  include: readonly ChoiceOption[] | undefined,
): Promise<SearchPage> {
  const { leftOut, ...made } = await definitionsOf(services, principal, found.items, format, include);
  return { ...found, ...made, leftOut: [...(found.leftOut ?? []), ...leftOut] };
}

function distinct<Value>(values: readonly Value[] | undefined): Value[] | undefined {
  return values && [...new Set(values)].sort();
}

export const searchOperations = [search];
