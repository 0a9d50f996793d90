import { z } from "zod";
import { named } from "../http/named.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { Flag, RegistryRecord } from "../registry/record-schema.ts";
import { ServerStatus, Visibility } from "../registry/schema.ts";
import { serverProbes } from "../registry/summary.ts";
import { catalogDimensions } from "./contract.ts";

const Facet = named(
  "Facet",
  z
    .object({
      values: z.array(z.object({ value: z.string(), count: z.int() })),
      more: z.literal(true).optional().describe("There are more values."),
    })
    .describe("Values of one dimension, the most frequent first."),
);

const CatalogItem = named(
  "CatalogItem",
  z
    .object({
      tenant: z.string(),
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      version: z.string().optional(),
      visibility: Visibility.optional(),
      status: ServerStatus.optional(),
      probe: z.enum(serverProbes).optional(),
      counts: z.partialRecord(CapabilityKind, z.int()).optional().describe("Items by kind."),
      tokens: z.int().optional().describe("Cost of all definitions together."),
      attributes: z.record(z.string(), z.array(z.string())).optional(),
      digest: z.string().optional(),
      generation: z.int().optional(),
      updatedAt: z.iso.datetime().optional(),
      flags: z.array(Flag).optional().describe("About the server's own texts."),
      registry: RegistryRecord.optional(),
    })
    .describe("A server; `fields` chooses the members beside tenant and name."),
);

export const CatalogPage = named(
  "CatalogPage",
  z
    .object({
      items: z.array(CatalogItem),
      total: z.object({ count: z.int() }).optional().describe("Servers that match; with facets only."),
      totals: z
        .object({ servers: z.int(), capabilities: z.int(), tokens: z.int() })
        .optional()
        .describe("Of the servers that match, with their items and the cost of all definitions; with facets only."),
      facets: z.partialRecord(z.enum(catalogDimensions), Facet).optional(),
      changed: z.literal(true).optional().describe("Something was written since the first page."),
      generation: z.int().describe("Of the directory: moves with every change that the caller may see."),
      nextCursor: z.string().optional(),
    })
    .describe("A page of servers."),
);
