import type { DirectoryNeed } from "../directory/edge-directory.ts";
import { checkMinDirectory } from "../directory/freshness.ts";
import type { DirectoryView } from "../directory/view.ts";
import type { DirectoryState } from "../http/directory-state.ts";
import { type PageRequest, pageOf, readCursor } from "../http/page.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseRfc3339 } from "../kernel/time.ts";
import type { ListedVersion, OfficialDirectory, VersionQuery, VersionsAsOf } from "./contract.ts";
import type { OfficialDeps } from "./deps.ts";
import { type FoundVersion, listFromView, versionsFromView } from "./edge-versions.ts";
import { parseOfficialName } from "./server-json.ts";

/** Filter of a list of versions. Every caller sees the same list: public servers only. */
export type VersionFilter = Omit<VersionQuery, "after" | "limit">;

/** The filters that a request names; those it does not name are inherited from its cursor. */
export type GivenFilter = Partial<VersionFilter>;

/** Cursors of this list are valid for every filter: each carries its own. */
const scope = { list: "versions" };

/** What was read, and where from. */
export interface ReadVersions {
  versions: ListedVersion[];
  source: AnswerSource;
  directory: DirectoryState & { age?: number };
  /** It was made from this isolate's copy of the directory, and holds while the copy has this state. */
  isFromCopy: boolean;
}

/** A page of the versions of public servers: from this isolate's copy of the directory, or from the directory itself. */
export async function listOfficial(
  services: OfficialDeps,
  given: GivenFilter,
  { limit, cursor }: PageRequest,
  need: DirectoryNeed,
): Promise<Result<ReadVersions & { nextCursor?: string }, Failure>> {
  const start = await readCursor(services, cursor, scope);
  if (!start.ok) return start;
  const [name = "", version = "", carried] = start.value?.after ?? [];
  const combined =
    carried === undefined ? ok(completeFilter(given)) : inherit(given, readJson(carried) as VersionFilter);
  if (!combined.ok) return combined;
  const filter = combined.value;
  const query = { ...filter, after: { name, version }, limit: limit + 1 };
  const found = await readDirectory(
    services,
    need,
    (view) => listFromView(view, query),
    (directory) => directory.listVersions(query),
  );
  if (!found.ok) return found;
  const read = found.value;
  const keyOf = (item: ListedVersion) => [item.name, item.version, JSON.stringify(filter)];
  // Without the generation: pages that are the same have the same cursor, and the same tag.
  const page = await pageOf(services, limit, scope, start.value, { items: read.versions, generation: 0 }, keyOf);
  if (!page.ok) return page;
  return ok({ ...read, versions: page.value.items, nextCursor: page.value.nextCursor });
}

/** Reads from this isolate's copy of the directory, or asks the directory itself. */
async function readDirectory(
  services: OfficialDeps,
  need: DirectoryNeed,
  find: (view: DirectoryView) => FoundVersion[],
  ask: (directory: OfficialDirectory) => Promise<VersionsAsOf>,
): Promise<Result<ReadVersions, Failure>> {
  const { edgeDirectory } = services;
  const view = await edgeDirectory.current(need);
  const read = view && (await withDocuments(services, find(view)));
  if (view !== undefined && read !== undefined) {
    const { epoch, generation } = view;
    return ok({ ...read, directory: { epoch, generation, age: edgeDirectory.age }, isFromCopy: true });
  }
  const { versions, ...directory } = await ask(services.directory());
  const behind = checkMinDirectory(directory, need.min);
  return behind === undefined ? ok({ versions, source: "object", directory, isFromCopy: false }) : err(behind);
}

/** Adds the documents, from memory or chunk by chunk; undefined if one is missing. */
async function withDocuments(
  { edgeDirectory, serverJsonTexts, usage }: OfficialDeps,
  found: readonly FoundVersion[],
): Promise<Pick<ReadVersions, "versions" | "source"> | undefined> {
  const documents = new Map<FoundVersion, string>();
  const missing: FoundVersion[] = [];
  for (const version of found) {
    const key = documentKey(version);
    const text = key === undefined ? undefined : serverJsonTexts.get(key);
    if (text === undefined) missing.push(version);
    else documents.set(version, text);
  }
  for (const [{ loaded }, wanted] of Map.groupBy(missing, (version) => version.in)) {
    const texts = await edgeDirectory.documents(
      loaded,
      wanted.map(({ number }) => number),
    );
    if (texts === undefined) return undefined;
    for (const [at, version] of wanted.entries()) {
      const text = texts[at] ?? "";
      documents.set(version, text);
      const key = documentKey(version);
      if (key !== undefined) serverJsonTexts.set(key, text, 2 * text.length);
    }
  }
  usage.memory += 1;
  const isInMemory = missing.every((version) => documentKey(version) === undefined);
  const versions = found.map((version) => ({ ...version, document: documents.get(version) ?? "" }));
  return { versions, source: isInMemory ? "memory" : "edge" };
}

/** undefined if the segment itself has the document. */
function documentKey({ in: { loaded, segment }, number }: FoundVersion): string | undefined {
  const { chunk, start } = segment.documentPlace(number);
  return chunk === undefined ? undefined : `${loaded.chunkKey?.(chunk)} ${start}`;
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
  need: DirectoryNeed,
): Promise<Result<ReadVersions, Failure>> {
  const server = parseOfficialName(name);
  const read = await readDirectory(
    services,
    need,
    (view) => versionsFromView(view, server, includeDeleted),
    (directory) => directory.versionsOf(server, includeDeleted),
  );
  return read.ok && read.value.versions.length === 0 ? err(noServer(name)) : read;
}

export async function officialVersion(
  services: OfficialDeps,
  name: string,
  version: string,
  includeDeleted: boolean,
  need: DirectoryNeed,
): Promise<Result<ReadVersions & { found: ListedVersion }, Failure>> {
  const server = parseOfficialName(name);
  const isIt = (one: FoundVersion) => (version === "latest" ? one.isLatest : one.version === version);
  const read = await readDirectory(
    services,
    need,
    (view) => versionsFromView(view, server, includeDeleted).filter(isIt),
    (directory) => directory.versionNamed(server, version, includeDeleted),
  );
  if (!read.ok) return read;
  const [found] = read.value.versions;
  if (found !== undefined) return ok({ ...read.value, found });
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
