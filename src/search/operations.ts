import { z } from "zod";
import type { Principal } from "../auth/principal.ts";
import { anyone } from "../http/access.ts";
import { unwrap } from "../http/context.ts";
import { operation } from "../http/operation.ts";
import {
  cacheControl,
  flag,
  freshnessFrom,
  ifNoneMatch,
  minDirectory,
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
import { distinct, filterFields, filterOf, maxFilterValues } from "./filters.ts";
import { type SearchDimension, searchDimensions } from "./index/facets.ts";
import { SearchPage } from "./schema.ts";
import { findPage } from "./search.ts";

/** Part of the ETag: change it whenever the response format changes. */
const version = "s3";

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
      kind: z.array(CapabilityKind).max(maxFilterValues).optional().describe("Only capabilities of these kinds."),
      tenant: z.array(TenantKey).max(maxFilterValues).optional().describe("Only capabilities of these tenants."),
      ...filterFields,
      prefix: flag.default(false).describe("The last word of the task may be unfinished, as while somebody types."),
      facets: names([...searchDimensions, "true", "false"])
        .optional()
        .describe(
          "Dimensions to count over everything that matches, separated by commas, or `true` or `false`; by default none.",
        ),
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
      "Cache-Control": cacheControl,
      "If-None-Match": ifNoneMatch,
      "Rollcall-Min-Directory-Generation": minDirectory,
      "Rollcall-Min-Generation": refused(minGenerationPerTenant),
    },
  },
  answers: {
    200: {
      description: "A page in order of rank.",
      data: SearchPage,
      etag: true,
      generation: true,
      directory: "sometimes",
    },
  },
  fails: ["ErrorCursorExpired"],
  cached: true,
  examples: {
    rain: { query: { task: "will it rain tomorrow", limit: 3 } },
    unfinished: {
      summary: "While somebody types, with what the matches can be filtered by",
      query: { task: "weather fore", prefix: true, kind: ["tool"], facets: "provider,status" },
    },
    definitions: {
      summary: "As tools of a model",
      query: { task: "will it rain tomorrow", limit: 3, definitions: "anthropic" },
    },
  },

  async handle(services: SearchDeps, { principal, query, headers, answer }) {
    const { task: text, kind, tenant, budget, include, definitions, explain, limit, cursor, prefix } = query;
    const kinds = distinct(kind) ?? (definitions && [...callableKinds]);
    const filter = { kinds, tenants: distinct(tenant), ...filterOf(query) };
    const need = { strong: freshnessFrom(headers).strong, min: headers["Rollcall-Min-Directory-Generation"] };
    const {
      page: found,
      directory,
      holds,
    } = unwrap(
      await findPage(
        services,
        principal,
        {
          text,
          prefix,
          budget,
          include: distinct(include),
          explain,
          facets: facetsOf(query.facets),
          need,
          ...filter,
        },
        { limit, cursor },
      ),
    );
    const data =
      definitions === undefined ? found : await withDefinitions(services, principal, found, definitions, include);
    // The ETag does not cover cursor and generation, which change with every write of any tenant.
    const { generation, nextCursor, ...lasting } = data;
    const content = JSON.stringify(lasting);
    const etag = `W/"${version}-${(await digestOfText(content)).slice(7, 39)}"`;
    const cache = holds && { holds, variesBy: "tenants" as const };
    const source = holds === undefined ? "object" : "memory";
    // Written once, for the ETag and for the answer.
    const body = `{"success":true,"data":${content.slice(0, -1)},${JSON.stringify({ generation, nextCursor }).slice(1)}}`;
    return answer.raw(200, body, { etag, generation, source, directory, cache });
  },
});

function facetsOf(named: readonly (SearchDimension | "true" | "false")[] = []): SearchDimension[] | undefined {
  if (named.length === 0 || named.includes("false")) return undefined;
  return searchDimensions.filter((dimension) => named.includes("true") || named.includes(dimension));
}

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

export const searchOperations = [search];
