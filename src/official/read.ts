import { type Page, type PageRequest, pageOf, readCursor } from "../http/page.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseRfc3339 } from "../kernel/time.ts";
import type { ListedVersion, VersionQuery } from "./contract.ts";
import type { OfficialDeps } from "./deps.ts";
import { parseOfficialName } from "./server-json.ts";

/** Filter of a list of versions. Every caller sees the same list: public servers only. */
export type VersionFilter = Omit<VersionQuery, "after" | "limit">;

/** The filters that a request names; those it does not name are inherited from its cursor. */
export type GivenFilter = Partial<VersionFilter>;

/** Cursors of this list are valid for every filter: each carries its own. */
const scope = { list: "versions" };

/** A page of the versions of public servers, in one call to the directory. */
export async function listOfficial(
  services: OfficialDeps,
  given: GivenFilter,
  { limit, cursor }: PageRequest,
): Promise<Result<Page<ListedVersion>, Failure>> {
  const start = await readCursor(services, cursor, scope);
  if (!start.ok) return start;
  const [name = "", version = "", carried] = start.value?.after ?? [];
  const combined =
    carried === undefined ? ok(completeFilter(given)) : inherit(given, readJson(carried) as VersionFilter);
  if (!combined.ok) return combined;
  const filter = combined.value;
  const query = { ...filter, after: { name, version }, limit: limit + 1 };
  const { versions, generation } = await services.directory().listVersions(query);
  const keyOf = (item: ListedVersion) => [item.name, item.version, JSON.stringify(filter)];
  return pageOf(services, limit, scope, start.value, { items: versions, generation }, keyOf);
}

function completeFilter({ search, updatedSince, version, includeDeleted }: GivenFilter): VersionFilter {
  return { search, updatedSince, version, includeDeleted: includeDeleted === true || updatedSince !== undefined };
}

const filterNames = {
  search: "search",
  updatedSince: "updated_since",
  version: "version",
  includeDeleted: "include_deleted",
} as const;

/** The filter of a cursor. VS Code sends `search` with the first page alone, so filters may be left out. */
export function inherit(given: GivenFilter, carried: VersionFilter): Result<VersionFilter, Failure> {
  for (const [key, name] of Object.entries(filterNames) as [keyof VersionFilter, string][]) {
    if (given[key] === undefined || given[key] === carried[key]) continue;
    const before = carried[key] === undefined ? `without ${name}` : `with ${name} ${JSON.stringify(carried[key])}`;
    const message = `${name} contradicts the cursor, which is of a list ${before}. Leave ${name} out, or start again without cursor`;
    return err(failure("ErrorCursorInvalid", message));
  }
  return ok(carried);
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
