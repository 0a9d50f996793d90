import { badBody, type Described, denied, notFound, page } from "../http/described.ts";

/** The official registry's API under one of its two prefixes. Errors are problem+json. */
export function officialOperations(prefix: string, suffix: string): Record<string, Record<string, Described>> {
  const one = `${prefix}/servers/{serverName}/versions/{version}`;
  const includeDeleted = { include_deleted: "`true` shows deleted versions too." };
  const open = { anonymous: true as const };
  const read = { 400: "A parameter is wrong.", 429: denied[429] };
  const unchangeable = { ...denied, 400: "A parameter is wrong.", 404: "Not a name.", 501: "Versions are immutable." };
  const status = {
    body: "status-update",
    answers: {
      200: "What changed.",
      ...denied,
      400: "Nothing to change, a message with active, or a body that cannot be read.",
      404: "No such version.",
      409: "The server published no versions.",
    },
  };
  return {
    [`${prefix}/servers`]: {
      get: {
        id: `listOfficialServers${suffix}`,
        summary: "Versions of public servers, in order of name and version",
        query: {
          ...page,
          search: "Part of the name or the description, in any case.",
          updated_since: "RFC 3339: only what changed after it, deleted versions included.",
          version: "`latest`, or exactly this one.",
          ...includeDeleted,
        },
        answers: { 200: "`{servers, metadata: {nextCursor?, count}}`", ...read },
        ...open,
      },
    },
    [`${prefix}/servers/{serverName}/versions`]: {
      get: {
        id: `listOfficialVersions${suffix}`,
        summary: "All versions of a server, the newest first; the name's slash is %2F",
        query: includeDeleted,
        answers: { 200: "Its versions.", ...read, ...notFound },
        ...open,
      },
    },
    [one]: {
      get: {
        id: `getOfficialVersion${suffix}`,
        summary: "One version of a server, or its `latest`",
        query: includeDeleted,
        answers: { 200: "The server.json and what the registry knows of it.", ...read, ...notFound },
        ...open,
      },
      put: { id: `replaceOfficialVersion${suffix}`, summary: "Not done here", answers: unchangeable },
      delete: { id: `deleteOfficialVersion${suffix}`, summary: "Not done here", answers: unchangeable },
    },
    [`${one}/status`]: {
      patch: { id: `setOfficialStatus${suffix}`, summary: "Give a version another status", ...status },
    },
    [`${prefix}/servers/{serverName}/status`]: {
      patch: { id: `setAllOfficialStatus${suffix}`, summary: "Give all versions another status, or none", ...status },
    },
    [`${prefix}/publish`]: {
      post: {
        id: `publishServerJson${suffix}`,
        summary: "Publish a version of a server",
        body: "server-json",
        answers: {
          200: "Published.",
          ...denied,
          ...badBody,
          400: "Unreadable, a version that is there already, or a remote that another server has.",
          409: "The server is not public.",
        },
      },
    },
    [`${prefix}/validate`]: {
      post: {
        id: `validateServerJson${suffix}`,
        summary: "Whether a server.json could be published",
        body: "server-json",
        answers: { 200: "`{valid, issues}`", 400: "The body cannot be read.", 413: badBody[413], 415: badBody[415] },
        ...open,
      },
    },
    [`${prefix}/ping`]: {
      get: { id: `officialPing${suffix}`, summary: "Whether it answers", answers: { 200: "It does." }, ...open },
    },
    [`${prefix}/health`]: {
      get: { id: `officialHealth${suffix}`, summary: "Whether it is well", answers: { 200: "It is." }, ...open },
    },
    [`${prefix}/version`]: {
      get: { id: `officialVersion${suffix}`, summary: "Which version runs", answers: { 200: "It." }, ...open },
    },
  };
}
