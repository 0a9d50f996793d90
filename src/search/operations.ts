import { z } from "zod";
import { anyone } from "../http/access.ts";
import { unwrap } from "../http/context.ts";
import { operation } from "../http/operation.ts";
import { flag, ifNoneMatch, minGenerationPerTenant, page, refused, required, whole } from "../http/parameters.ts";
import { digestOfText } from "../kernel/digest.ts";
import { TenantKey } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import type { SearchDeps } from "./deps.ts";
import { SearchPage } from "./schema.ts";
import { searchCapabilities } from "./search.ts";

/** Values of one filter. */
const maxValues = 20;

/** Part of the ETag: change it whenever the response format changes. */
const version = "s1";

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
      explain: flag.default(false).describe("Says of each result what it was found by."),
      ...page(10),
    },
    aliases: { task: ["q", "query"], budget: ["token_budget"] },
    headers: {
      "If-None-Match": ifNoneMatch,
      "Rollcall-Min-Generation": refused(minGenerationPerTenant),
    },
  },
  answers: { 200: { description: "A page in order of rank.", data: SearchPage, etag: true, generation: true } },
  fails: ["ErrorCursorExpired"],
  examples: { rain: { query: { task: "will it rain tomorrow", limit: 3 } } },

  async handle(services: SearchDeps, { principal, query, answer }) {
    const { task: text, kind, tenant, budget, explain, limit, cursor } = query;
    const filter = { kinds: distinct(kind), tenants: distinct(tenant) };
    const found = unwrap(
      await searchCapabilities(services, principal, { text, budget, explain, ...filter }, { limit, cursor }),
    );
    // The ETag does not cover cursor and generation, which change with every write of any tenant.
    const { generation, nextCursor: _, ...lasting } = found;
    const etag = `W/"${version}-${(await digestOfText(JSON.stringify(lasting))).slice(7, 39)}"`;
    return answer(200, found, { etag, generation, source: "object" });
  },
});

function distinct<Value>(values: readonly Value[] | undefined): Value[] | undefined {
  return values && [...new Set(values)].sort();
}

export const searchOperations = [search];
