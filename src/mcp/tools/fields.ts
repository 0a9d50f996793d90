import { z } from "zod";
import { ServerName, TenantKey } from "../../kernel/names.ts";

/** Arguments and result fields of several tools. Descriptions are short: clients pay for them in every tools/list. */

export const tenant = TenantKey.describe("Owner.");

/** A server by tenant and name. */
export const serverRef = { tenant, name: ServerName.describe("Server.") };

export const config = z.record(z.string(), z.unknown());

/** Fields that log entries and diffs share. Both have more fields, which are not declared, to save tokens. */
export const change = {
  kind: z.string(),
  name: z.string(),
  classification: z.string(),
  breaking: z.boolean(),
  reasons: z.array(z.object({ path: z.string(), message: z.string() })),
};

/** Annotations of every tool: read-only, and no access outside the registry. */
export const readOnlyAnnotations = { readOnlyHint: true, openWorldHint: false };

/** A card as search results show it. It has more members, its record among them, which are not declared, to save tokens. */
export const card = {
  id: z.string(),
  tenant: z.string(),
  server: z.string(),
  kind: z.string(),
  name: z.string(),
  digest: z.string(),
  tokens: z.number(),
};
