import { z } from "zod";
import { ServerName, TenantName } from "../../kernel/names.ts";

/** Arguments and parts of answers that several tools have. Texts are short: a client pays for each in every list. */

export const tenant = TenantName.describe("Owner.");

/** A server by its owner and name. */
export const serverRef = { tenant, name: ServerName.describe("Server.") };

export const config = z.record(z.string(), z.unknown());

/** A change as the log and a comparison tell it; each has more to say than is worth announcing. */
export const change = {
  kind: z.string(),
  name: z.string(),
  classification: z.enum(["breaking", "additive", "cosmetic", "removed"]),
  breaking: z.boolean(),
  reasons: z.array(z.object({ path: z.string(), message: z.string() })),
};

/** None of these tools changes anything, and none looks outside the registry. */
export const reading = { readOnlyHint: true, openWorldHint: false };

/** A capability as a search shows it: enough to choose by. */
export const card = {
  id: z.string(),
  tenant: z.string(),
  server: z.string(),
  kind: z.string(),
  name: z.string(),
  digest: z.string(),
  tokens: z.number(),
};
