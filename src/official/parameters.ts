import { z } from "zod";
import type { TenantPlace } from "../http/access.ts";
import { requestError } from "../http/context.ts";
import { refused, traits, withTraits } from "../http/parameters.ts";
import { OfficialName } from "./schema.ts";
import { parseOfficialName } from "./server-json.ts";

/** Parts of requests that the operations of the official registry's API share. */

/** The API has an older prefix with the same operations. */
export function alsoV0(path: string): string[] {
  return [path.replace("/v0.1/", "/v0/")];
}

/** The name, with its slash written as %2F in the path. An invalid name is a 404. */
function officialName(name: string): string {
  if (OfficialName.safeParse(name).success) return name;
  const message = `Server not found: ${JSON.stringify(name.slice(0, 200))} is not a server name. Expected namespace/name with the slash as %2F`;
  throw requestError("ErrorMCPServerNotFound", message);
}
traits.add(OfficialName, { read: officialName, fails: ["ErrorMCPServerNotFound"] });

export const serverPath = { serverName: OfficialName.describe("Namespace and name; the slash is %2F.") };
export const versionPath = { ...serverPath, version: z.string().describe("A version.") };

/** Query parameters are read and refused as the official registry does: 422, and not 400 as elsewhere here. */
function parameter<Schema extends z.ZodType>(schema: Schema, read?: (text: string, name: string) => unknown): Schema {
  return withTraits(schema, { read, fails: ["ErrorParameterInvalid"], lenient: true });
}

function invalidParameter(message: string) {
  return requestError("ErrorParameterInvalid", message);
}

const booleans: Readonly<Record<string, boolean>> = {
  ...{ "1": true, t: true, T: true, true: true, TRUE: true, True: true },
  ...{ "0": false, f: false, F: false, false: false, FALSE: false, False: false },
};

export const includeDeleted = parameter(z.boolean(), (text, name) => {
  if (Object.hasOwn(booleans, text)) return booleans[text];
  throw invalidParameter(`${name} must be true or false`);
})
  .optional()
  .describe("Shows deleted versions too.");

const maxLimit = 100;

/** The list's own parameters. */
export const listQuery = {
  limit: parameter(z.int().min(1).max(maxLimit), (text, name) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (number >= 1 && number <= maxLimit) return number;
    throw invalidParameter(`${name} must be a whole number from 1 to ${maxLimit}`);
  })
    .default(30)
    .describe("Items on a page."),
  cursor: withTraits(z.string(), { fails: ["ErrorCursorInvalid", "ErrorNotConfigured"], lenient: true })
    .optional()
    .describe("`metadata.nextCursor` of the page before. It carries the filters of its list, which may be left out."),
  search: parameter(z.string(), (text, name) => {
    if (Array.from(text.trim()).length >= 3) return text;
    throw invalidParameter(`${name} must have 3 characters or more, spaces around it not counted`);
  })
    .optional()
    .describe("Part of the name or the description, in any case; 3 characters or more."),
  updated_since: parameter(z.string().meta({ format: "date-time" }))
    .optional()
    .describe("Only what changed after this time (RFC 3339), deleted versions included."),
  version: parameter(z.string()).optional().describe("`latest`, or exactly this version."),
  include_deleted: includeDeleted,
};

/** Clients add parameters of their own against caches, so that unknown ones are ignored. */
export const ignoringUnknown = { unknown: "ignore" } as const;

/** Names under which users have sent a search and got a list of everything. */
export const misnamedSearch = {
  q: refused("is not a parameter of this API; send search"),
  query: refused("is not a parameter of this API; send search"),
  filter: refused("is not a parameter of this API; send search"),
};

/** The tenant is the part of the name before the slash. */
export const tenantInPath: TenantPlace = {
  in: "path",
  fails: ["ErrorMCPServerNotFound"],
  read: ({ serverName = "" }) => parseOfficialName(officialName(serverName)),
};

/** As above; a document without a valid name is refused when it is validated. */
export const tenantInBody: TenantPlace = {
  in: "body",
  fails: [],
  read(document) {
    const { success, data } = OfficialName.safeParse((document as { name?: unknown } | null)?.name);
    return success ? parseOfficialName(data) : undefined;
  },
};
