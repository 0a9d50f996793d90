import { z } from "zod";
import type { TenantPlace } from "../http/access.ts";
import { requestError } from "../http/context.ts";
import { flag, refused, traits } from "../http/parameters.ts";
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

export const includeDeleted = flag.optional().describe("Shows deleted versions too.");

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
