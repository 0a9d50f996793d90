import { listPageBy, type Page, type PageRequest } from "../http/page.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseRfc3339 } from "../kernel/time.ts";
import type { ListedVersion, VersionQuery } from "./contract.ts";
import type { OfficialDeps } from "./deps.ts";
import { parseOfficialName } from "./server-json.ts";

/** Filter of a list of versions. Every caller sees the same list: public servers only. */
export type VersionFilter = Omit<VersionQuery, "after" | "limit">;

/** A page of the versions of public servers, in one call to the directory. */
export function listOfficial(
  services: OfficialDeps,
  filter: VersionFilter,
  page: PageRequest,
): Promise<Result<Page<ListedVersion>, Failure>> {
  const scope = { list: "versions", ...filter };
  return listPageBy(
    services,
    page,
    scope,
    async ([name = "", version = ""], limit) => {
      const query = { ...filter, after: { name, version }, limit };
      const { versions, generation } = await services.directory().listVersions(query);
      return { items: versions, generation };
    },
    ({ name, version }) => [name, version],
  );
}

export async function officialVersions(
  services: OfficialDeps,
  name: string,
  includeDeleted: boolean,
): Promise<Result<ListedVersion[], Failure>> {
  const versions = await services.directory().versionsOf(parseOfficialName(name), includeDeleted);
  return versions.length === 0 ? err(noServer(name)) : ok(versions);
}

export async function officialVersion(
  services: OfficialDeps,
  name: string,
  version: string,
  includeDeleted: boolean,
): Promise<Result<ListedVersion, Failure>> {
  const found = await services.directory().versionNamed(parseOfficialName(name), version, includeDeleted);
  if (found !== undefined) return ok(found);
  return err(failure("ErrorVersionNotFound", `Server not found: there is no public ${name} ${version}`));
}

function noServer(name: string): Failure {
  return failure("ErrorMCPServerNotFound", `Server not found: there is no public server ${name}`);
}

/** Times are compared as text, and a five-digit year would sort before all four-digit years. */
const lastTime = Date.UTC(9_999, 11, 31, 23, 59, 59, 999);

/** An RFC 3339 time in the format of stored times. */
export function storedTime(value: string): string | undefined {
  const time = parseRfc3339(value);
  return time === undefined ? undefined : new Date(Math.min(time, lastTime)).toISOString();
}
