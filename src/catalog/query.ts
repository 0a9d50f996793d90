import { z } from "zod";
import { names, page, since } from "../http/parameters.ts";
import { TenantKey } from "../kernel/names.ts";
import { maxValueLength } from "../manifest/attributes.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { ServerStatus } from "../registry/schema.ts";
import { serverProbes } from "../registry/summary.ts";
import {
  type CatalogDimension,
  type CatalogField,
  type CatalogFilter,
  type CatalogOrder,
  catalogDimensions,
  catalogFields,
  catalogOrders,
} from "./contract.ts";

/** They identify the server, so every item has them. */
const always: readonly CatalogField[] = ["tenant", "name"];

/** A parsed catalogue query. */
export interface CatalogQuery {
  filter: CatalogFilter;
  order: CatalogOrder;
  /** Dimensions to count. If absent: all on the first page, none on later pages. */
  facets?: readonly CatalogDimension[];
  fields: readonly CatalogField[];
}

/** Values of one filter. */
const maxValues = 20;

const values = z.array(z.string().min(1).max(maxValueLength)).max(maxValues).optional();

const filters = {
  tenant: z.array(TenantKey).max(maxValues).optional().describe("Only servers of these tenants."),
  kind: z.array(CapabilityKind).max(maxValues).optional().describe("Only servers with an item of these kinds."),
  provider: values.describe("Only servers with an item of these providers: `mcp`, `openapi`, `graphql` …"),
  category: values.describe("Only servers with an item of these categories."),
  permission: values.describe("Only servers with an item that needs one of these permissions."),
  effect: values.describe("Only servers with an item that has one of these effects."),
  capability_type: values.describe("Only servers with an item of these types (`metadata.discovery.capability_type`)."),
  status: z.array(ServerStatus).max(maxValues).optional().describe("Only servers with this status."),
  probe: z
    .array(z.enum(serverProbes))
    .max(maxValues)
    .optional()
    .describe("Only servers whose sources were last found so; `unknown` if a server has none."),
  flag: values.describe("Only servers with a flag of these rules about their own texts: `exfiltration` …"),
} satisfies Record<CatalogDimension, z.ZodType>;

/** Parameters of the catalogue. A filter may be repeated: one of its values is enough. */
export const catalogParameters = {
  ...filters,
  updated_since: since.optional().describe("Only servers that changed at this time or later."),
  order: z
    .enum(catalogOrders)
    .default("name")
    .describe("`name`: by tenant and name. `updated`: the last changed first."),
  facets: names([...catalogDimensions, "true", "false"])
    .optional()
    .describe(
      "Dimensions to count, separated by commas, or `true` or `false`; by default all, with a first page only.",
    ),
  fields: names(catalogFields).optional().describe("Members of each item, separated by commas; by default all."),
  ...page(30),
};

type Given = {
  [Name in Exclude<keyof typeof catalogParameters, "limit" | "cursor">]: z.output<(typeof catalogParameters)[Name]>;
};

export function catalogQuery({ updated_since: updatedSince, order, facets, fields, ...wanted }: Given): CatalogQuery {
  const filter: CatalogFilter = { values: {}, updatedSince };
  for (const dimension of catalogDimensions) {
    const given = wanted[dimension];
    if (given !== undefined) Object.assign(filter.values, { [dimension]: [...new Set(given)].sort() });
  }
  const shown = new Set<CatalogField>([...always, ...(fields ?? catalogFields)]);
  return {
    filter,
    order,
    facets: facets && facetsOf(facets),
    fields: catalogFields.filter((field) => shown.has(field)),
  };
}

function facetsOf(named: readonly (CatalogDimension | "true" | "false")[]): readonly CatalogDimension[] {
  if (named.includes("false")) return [];
  return named.includes("true") ? catalogDimensions : catalogDimensions.filter((name) => named.includes(name));
}
