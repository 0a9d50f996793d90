import { readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { toDotPath } from "../http/errors.ts";
import { readPageRequest } from "../http/page.ts";
import { authenticateOptional, booleanParam, readQuery } from "../http/request.ts";
import { publicOrigin, send, sendConditional } from "../http/respond.ts";
import { digestOfText } from "../kernel/digest.ts";
import { version as ownVersion, service } from "../kernel/version.ts";
import type { OfficialDeps } from "./deps.ts";
import { serverJsonIssues } from "./publish.ts";
import { listOfficial, officialVersion, officialVersions, storedTime, type VersionFilter } from "./read.ts";
import { serverResponse } from "./response.ts";
import { OfficialName } from "./schema.ts";

/** The official registry's API has two prefixes with the same routes. */
export const officialPrefixes = ["/v0.1", "/v0"] as const;

const json = "application/json; charset=utf-8";

interface Meta {
  generation?: number;
  headers?: Record<string, string>;
}

export async function sendWithEtag(
  c: RequestContext,
  services: OfficialDeps,
  body: unknown,
  more: Meta = {},
): Promise<Response> {
  const text = JSON.stringify(body);
  const etag = `W/"${(await digestOfText(text)).slice(7, 39)}"`;
  const meta = { source: "object" as const, etag, ...more };
  const respond = () => send(c, services, text, json, meta);
  return c.req.method === "GET" ? sendConditional(c, services, meta, respond) : respond();
}

/** Read routes of the official registry's API: every caller sees public servers only. */
export function officialRoutes(app: App, services: OfficialDeps): void {
  for (const prefix of officialPrefixes) {
    app.get(`${prefix}/servers`, async (c) => {
      await authenticateOptional(c, services);
      const query = readQuery(c, ["cursor", "limit", "search", "updated_since", "version", "include_deleted"]);
      const { cursor, limit } = query;
      const page = readPageRequest({ limit, cursor: cursor || undefined });
      const { items, nextCursor, generation } = unwrap(await listOfficial(services, filterOf(query), page));
      const origin = publicOrigin(c, services.config);
      const servers = items.map((item) => serverResponse(item, origin));
      const metadata = { nextCursor, count: servers.length };
      return sendWithEtag(
        c,
        services,
        { servers, metadata },
        { generation, headers: nextCursor === undefined ? {} : { Link: nextLink(c, nextCursor) } },
      );
    });

    app.get(`${prefix}/servers/:serverName/versions`, async (c) => {
      await authenticateOptional(c, services);
      const includeDeleted = booleanParam("include_deleted", readQuery(c, ["include_deleted"]).include_deleted);
      const versions = unwrap(await officialVersions(services, officialName(c), includeDeleted));
      const origin = publicOrigin(c, services.config);
      const servers = versions.map((item) => serverResponse(item, origin));
      return sendWithEtag(c, services, { servers, metadata: { count: servers.length } });
    });

    app.get(`${prefix}/servers/:serverName/versions/:version`, async (c) => {
      await authenticateOptional(c, services);
      const includeDeleted = booleanParam("include_deleted", readQuery(c, ["include_deleted"]).include_deleted);
      const { version } = c.req.param();
      const found = unwrap(await officialVersion(services, officialName(c), version, includeDeleted));
      return sendWithEtag(c, services, serverResponse(found, publicOrigin(c, services.config)));
    });

    app.post(`${prefix}/validate`, async (c) => {
      await authenticateOptional(c, services);
      readQuery(c, []);
      const { bounds } = services.config;
      const document = await readDocument(c, { bytes: bounds.serverJsonBytes, depth: bounds.depth });
      const damage = document.issues.map((issue) => ({ ...issue, kind: "json" as const }));
      const issues = [...damage, ...serverJsonIssues(document.value)].map(({ kind, path, rule, message }) => ({
        type: kind,
        path: toDotPath(path),
        message,
        severity: "error",
        reference: rule,
      }));
      return sendWithEtag(c, services, { valid: issues.length === 0, issues });
    });

    for (const [path, body] of [
      ["ping", { pong: true }],
      ["health", { status: "ok" }],
      ["version", { version: ownVersion, name: service }],
    ] as const) {
      app.get(`${prefix}/${path}`, (c) => {
        readQuery(c, []);
        return send(c, services, JSON.stringify(body), json, {});
      });
    }
  }
}

/** The server name from the path, with its slash written as %2F. An invalid name is a 404. */
export function officialName(c: RequestContext): string {
  const name = c.req.param("serverName") ?? "";
  if (OfficialName.safeParse(name).success) return name;
  const message = `Server not found: ${JSON.stringify(name.slice(0, 200))} is no name; names are namespace/name, with the slash as %2F`;
  throw requestError("ErrorMCPServerNotFound", message);
}

type ListQuery = Partial<Record<"search" | "updated_since" | "version" | "include_deleted", string>>;

function filterOf({ search, updated_since, version, include_deleted }: ListQuery): VersionFilter {
  if (search !== undefined && search.length > 1_000)
    throw requestError("ErrorBadRequest", "search is longer than 1000 characters");
  const isDeletedWanted = booleanParam("include_deleted", include_deleted);
  const updatedSince = updated_since ? storedTime(updated_since) : undefined;
  if (updated_since && updatedSince === undefined) {
    const hint = "an RFC 3339 time such as 2025-08-07T13:15:04.280Z, with + written as %2B";
    throw requestError("ErrorBadRequest", `Invalid updated_since: expected ${hint}`);
  }
  if (updatedSince !== undefined && include_deleted !== undefined && !isDeletedWanted) {
    throw requestError(
      "ErrorBadRequest",
      "include_deleted cannot be false beside updated_since: what was deleted since is part of it",
    );
  }
  return {
    includeDeleted: isDeletedWanted || updatedSince !== undefined,
    search: search ? search.toLowerCase() : undefined,
    updatedSince,
    version: version || undefined,
  };
}

function nextLink(c: RequestContext, cursor: string): string {
  const query = new URLSearchParams(c.req.query());
  query.set("cursor", cursor);
  return `<${c.req.path}?${query}>; rel="next"`;
}
