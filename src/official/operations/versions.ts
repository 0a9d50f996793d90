import { z } from "zod";
import type { DirectoryNeed } from "../../directory/edge-directory.ts";
import { anyone } from "../../http/access.ts";
import { type RequestContext, requestError, unwrap } from "../../http/context.ts";
import type { DirectoryState } from "../../http/directory-state.ts";
import { type AnswerMeta, operation } from "../../http/operation.ts";
import { cacheControl, freshnessFrom, ifNoneMatch, minDirectory } from "../../http/parameters.ts";
import { publicOrigin } from "../../http/respond.ts";
import { ServerResponse, ServerResponseList } from "../answer-schema.ts";
import type { ListedVersion } from "../contract.ts";
import type { OfficialDeps } from "../deps.ts";
import {
  alsoV0,
  ignoringUnknown,
  includeDeleted,
  listQuery,
  misnamedSearch,
  serverPath,
  versionPath,
} from "../parameters.ts";
import {
  type GivenFilter,
  listOfficial,
  officialVersion,
  officialVersions,
  type ReadVersions,
  storedTime,
} from "../read.ts";
import { etagOf, serverResponseText } from "../response.ts";

/** Reads: every caller sees public servers only. */

const reading = {
  "Cache-Control": cacheControl,
  "If-None-Match": ifNoneMatch,
  "Rollcall-Min-Directory-Generation": minDirectory,
};

interface ReadingHeaders {
  "Cache-Control"?: string | undefined;
  "Rollcall-Min-Directory-Generation"?: DirectoryState | undefined;
}

function needOf(headers: ReadingHeaders): DirectoryNeed {
  return { strong: freshnessFrom(headers).strong, min: headers["Rollcall-Min-Directory-Generation"] };
}

const listServers = operation({
  id: "listOfficialServers",
  method: "get",
  path: "/v0.1/servers",
  also: alsoV0("/v0.1/servers"),
  tag: "Registry API",
  summary: "List versions of public servers",
  description:
    "In order of name and version. A cursor carries the filters of its list: those that are left out are as before, and others are refused.",
  access: anyone,
  errors: "problem",
  parameters: {
    query: { ...misnamedSearch, ...listQuery },
    headers: reading,
    ...ignoringUnknown,
  },
  answers: {
    200: {
      description: "A page of versions.",
      json: ServerResponseList,
      etag: true,
      generation: true,
      directory: true,
      headers: { Link: "The next page, if there is one." },
    },
  },
  cached: true,
  examples: { weather: { query: { search: "weather", version: "latest" } } },

  async handle(services: OfficialDeps, { query, headers, c, answer }) {
    const page = unwrap(await listOfficial(services, givenFilter(query), query, needOf(headers)));
    const { nextCursor } = page;
    const text = listText(page.versions, { nextCursor }, publicOrigin(c, services.config));
    const link = nextCursor === undefined ? undefined : { Link: nextLink(c, nextCursor) };
    return answer.raw(200, text, { ...(await metaOf(c, services, text, page)), headers: link });
  },
});

const listVersions = operation({
  id: "listOfficialVersions",
  method: "get",
  path: "/v0.1/servers/{serverName}/versions",
  also: alsoV0("/v0.1/servers/{serverName}/versions"),
  tag: "Registry API",
  summary: "List all versions of a server",
  description: "The newest first.",
  access: anyone,
  errors: "problem",
  parameters: {
    path: serverPath,
    query: { include_deleted: includeDeleted },
    headers: reading,
    ...ignoringUnknown,
  },
  answers: {
    200: { description: "The versions.", json: ServerResponseList, etag: true, generation: true, directory: true },
  },
  fails: ["ErrorMCPServerNotFound"],
  cached: true,
  examples: { weather: { path: { serverName: "demo/weather" } } },

  async handle(services: OfficialDeps, { path: { serverName }, query, headers, c, answer }) {
    const read = unwrap(await officialVersions(services, serverName, query.include_deleted ?? false, needOf(headers)));
    const text = listText(read.versions, {}, publicOrigin(c, services.config));
    return answer.raw(200, text, await metaOf(c, services, text, read));
  },
});

const getVersion = operation({
  id: "getOfficialVersion",
  method: "get",
  path: "/v0.1/servers/{serverName}/versions/{version}",
  also: alsoV0("/v0.1/servers/{serverName}/versions/{version}"),
  tag: "Registry API",
  summary: "Read one version of a server",
  access: anyone,
  errors: "problem",
  parameters: {
    path: { ...versionPath, version: z.string().describe("A version, or `latest`.") },
    query: { include_deleted: includeDeleted },
    headers: reading,
    ...ignoringUnknown,
  },
  answers: {
    200: {
      description: "The server.json with its metadata.",
      json: ServerResponse,
      etag: true,
      generation: true,
      directory: true,
    },
  },
  fails: ["ErrorVersionNotFound"],
  cached: true,
  examples: { latest: { path: { serverName: "demo/weather", version: "latest" } } },

  async handle(services: OfficialDeps, { path: { serverName, version }, query, headers, c, answer }) {
    const read = unwrap(
      await officialVersion(services, serverName, version, query.include_deleted ?? false, needOf(headers)),
    );
    const text = serverResponseText(read.found, publicOrigin(c, services.config));
    return answer.raw(200, text, await metaOf(c, services, text, read));
  },
});

/** The text of a `ServerResponseList`. */
function listText(versions: readonly ListedVersion[], { nextCursor }: { nextCursor?: string }, origin: string): string {
  const metadata = JSON.stringify({ nextCursor, count: versions.length });
  return `{"servers":[${versions.map((item) => serverResponseText(item, origin)).join(",")}],"metadata":${metadata}}`;
}

const known = /^(limit|cursor|search|updated_since|version|include_deleted)$/;

/** An answer made of this isolate's copy of the directory is kept while the copy has that state. */
async function metaOf(
  c: RequestContext,
  { edgeDirectory }: OfficialDeps,
  text: string,
  { source, directory, isFromCopy }: ReadMeta,
): Promise<AnswerMeta> {
  // Parameters against caches would fill ours.
  const isPlain = Object.keys(c.req.query()).every((name) => known.test(name));
  const state = { epoch: directory.epoch, generation: directory.generation };
  const cache =
    isFromCopy && isPlain ? { holds: () => edgeDirectory.isCurrent(state), variesBy: "nothing" as const } : undefined;
  return { source, generation: state.generation, directory, etag: await etagOf(text), cache };
}

type ReadMeta = Pick<ReadVersions, "source" | "directory" | "isFromCopy">;

interface ListQuery {
  search?: string | undefined;
  updated_since?: string | undefined;
  version?: string | undefined;
  include_deleted?: boolean | undefined;
}

function givenFilter({ search, updated_since, version, include_deleted }: ListQuery): GivenFilter {
  const updatedSince = updated_since === undefined ? undefined : storedTime(updated_since);
  if (updated_since !== undefined && updatedSince === undefined) {
    const hint = "an RFC 3339 time such as 2025-08-07T13:15:04.280Z, with + written as %2B";
    throw requestError("ErrorBadRequest", `Invalid updated_since: expected ${hint}`);
  }
  if (updatedSince !== undefined && include_deleted === false) {
    throw requestError("ErrorBadRequest", "include_deleted=false cannot be combined with updated_since");
  }
  return { search: search?.toLowerCase(), updatedSince, version, includeDeleted: include_deleted };
}

function nextLink(c: RequestContext, cursor: string): string {
  const query = new URLSearchParams(c.req.query());
  query.set("cursor", cursor);
  return `<${c.req.path}?${query}>; rel="next"`;
}

export const versionsOperations = [listServers, listVersions, getVersion];
