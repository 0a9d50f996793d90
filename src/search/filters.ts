import { z } from "zod";
import { itemDimensions, maxValueLength } from "../manifest/attributes.ts";
import { ServerStatus } from "../registry/schema.ts";
import type { ItemFilter } from "./index/filter.ts";

/** Values of one filter. */
export const maxFilterValues = 20;

const values = z.array(z.string().min(1).max(maxValueLength)).max(maxFilterValues);

/** Filters by what items declare, and by status. One of the values of a filter is enough. */
export const plainFilters = {
  provider: values.optional(),
  category: values.optional(),
  permission: values.optional(),
  effect: values.optional(),
  capability_type: values.optional(),
  status: z.array(ServerStatus).max(maxFilterValues).optional(),
};

/** The same, with what each is. */
export const filterFields = {
  provider: plainFilters.provider.describe("Only items of these providers: `mcp`, `openapi`, `graphql` …"),
  category: plainFilters.category.describe("Only items of these categories."),
  permission: plainFilters.permission.describe("Only items that need one of these permissions."),
  effect: plainFilters.effect.describe("Only items that have one of these effects."),
  capability_type: plainFilters.capability_type.describe(
    "Only items of these types (`metadata.discovery.capability_type`).",
  ),
  status: plainFilters.status.describe("Only items with this status."),
};

type Given = { [Name in keyof typeof filterFields]?: z.output<(typeof filterFields)[Name]> };

/** In a fixed order without duplicates, so that the same filter is always written the same. */
export function filterOf(given: Given): Pick<ItemFilter, "attributes" | "status"> {
  const wanted = itemDimensions.flatMap((dimension) => {
    const list = distinct(given[dimension]);
    return list === undefined ? [] : [[dimension, list] as const];
  });
  return {
    attributes: wanted.length === 0 ? undefined : Object.fromEntries(wanted),
    status: distinct(given.status),
  };
}

export function distinct<Value>(list: readonly Value[] | undefined): Value[] | undefined {
  return list && [...new Set(list)].sort();
}
