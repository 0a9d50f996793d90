import type { Principal } from "../../auth/principal.ts";
import { manager } from "../../http/access.ts";
import { type RequestContext, requestError, unwrap } from "../../http/context.ts";
import { type Example, type Method, operation } from "../../http/operation.ts";
import { publicOrigin } from "../../http/respond.ts";
import { characterIssues } from "../../kernel/characters.ts";
import type { FailureCode } from "../../kernel/failure.ts";
import { issueText } from "../../kernel/issue.ts";
import { writerFrom } from "../../registry/write.ts";
import { ServerResponse, StatusChange } from "../answer-schema.ts";
import type { OfficialDeps } from "../deps.ts";
import { alsoV0, ignoringUnknown, serverPath, tenantInPath, versionPath } from "../parameters.ts";
import { changeVersions } from "../publish.ts";
import { serverResponse, withEtag } from "../response.ts";
import { StatusUpdate } from "../schema.ts";
import { parseOfficialName } from "../server-json.ts";

const body = { schema: StatusUpdate, limit: "configBytes", invalid: "ErrorBadRequest" } as const;
const statusFails: readonly FailureCode[] = [
  "ErrorNoChange",
  "ErrorRemoteTaken",
  "ErrorMCPServerNotFound",
  "ErrorVersionNotFound",
  "ErrorVersionDerived",
  "ErrorServerPrivate",
];

/** The example's server must have a version. */
function afterPublishing(path: Record<string, string>, statusMessage: string): Example {
  const after = { id: "publishServerJson", take: () => ({}) };
  return { path: { serverName: "demo/ferries", ...path }, body: { status: "deprecated", statusMessage }, after };
}

const setStatus = operation({
  id: "setOfficialStatus",
  method: "patch",
  path: "/v0.1/servers/{serverName}/versions/{version}/status",
  also: alsoV0("/v0.1/servers/{serverName}/versions/{version}/status"),
  tag: "Registry API",
  summary: "Give a version another status",
  access: manager(tenantInPath),
  errors: "problem",
  parameters: { path: versionPath, ...ignoringUnknown },
  body,
  answers: { 200: { description: "Changed.", json: ServerResponse, etag: true } },
  fails: statusFails,
  examples: { deprecated: afterPublishing({ version: "1.0.0" }, "Use demo/weather.") },

  async handle(services: OfficialDeps, { principal, path: { serverName, version }, body: update, c, answer }) {
    const [changed] = await changeStatus(c, services, principal, { serverName, version }, update);
    if (changed === undefined) throw requestError("ErrorVersionNotFound");
    const { text, meta } = await withEtag(changed);
    return answer.raw(200, text, meta);
  },
});

const setAllStatus = operation({
  id: "setAllOfficialStatus",
  method: "patch",
  path: "/v0.1/servers/{serverName}/status",
  also: alsoV0("/v0.1/servers/{serverName}/status"),
  tag: "Registry API",
  summary: "Give all versions another status",
  description: "All of them, or none.",
  access: manager(tenantInPath),
  errors: "problem",
  parameters: { path: serverPath, ...ignoringUnknown },
  body,
  answers: { 200: { description: "Changed.", json: StatusChange, etag: true } },
  fails: statusFails,
  examples: { deprecated: afterPublishing({}, "demo/weather has the departures now.") },

  async handle(services: OfficialDeps, { principal, path: { serverName }, body: update, c, answer }) {
    const servers = await changeStatus(c, services, principal, { serverName }, update);
    const { text, meta } = await withEtag<StatusChange>({ updatedCount: servers.length, servers });
    return answer.raw(200, text, meta);
  },
});

/** One version; all if `version` is undefined. */
async function changeStatus(
  c: RequestContext,
  services: OfficialDeps,
  principal: Principal,
  { serverName, version }: { serverName: string; version?: string },
  update: StatusUpdate,
): Promise<ServerResponse[]> {
  if (update.status === "active" && update.statusMessage !== undefined) {
    throw requestError("ErrorBadRequest", "statusMessage is not allowed when status is active");
  }
  // The message becomes text of the server's settings, and has to be fit for them.
  const [unfit] = characterIssues(update.statusMessage, "/statusMessage");
  if (unfit !== undefined) throw requestError("ErrorBadRequest", issueText(unfit));
  const server = parseOfficialName(serverName);
  const writer = writerFrom(principal, server);
  const { versions } = unwrap(await changeVersions(services, writer, server, version, update));
  const origin = publicOrigin(c, services.config);
  return versions.map((changed) => serverResponse(changed, origin));
}

/** The official API allows a registry to leave these out. */
function immutable(id: string, method: Method, summary: string) {
  const path = "/v0.1/servers/{serverName}/versions/{version}";
  return operation({
    id,
    method,
    path,
    also: alsoV0(path),
    tag: "Registry API",
    summary,
    description: "A published version never changes: publish another, or set its status.",
    access: manager(tenantInPath),
    errors: "problem",
    parameters: { path: versionPath, ...ignoringUnknown },
    answers: {},
    fails: ["ErrorNotImplemented"],
    examples: { refused: { path: { serverName: "demo/weather", version: "1.0.0" }, status: 501 } },

    handle(_: OfficialDeps): never {
      const instead = "A published version never changes: publish another, or set its status";
      throw requestError("ErrorNotImplemented", instead);
    },
  });
}

export const statusOperations = [
  setStatus,
  setAllStatus,
  immutable("replaceOfficialVersion", "put", "Replace a version (not possible)"),
  immutable("deleteOfficialVersion", "delete", "Delete a version (not possible)"),
];
