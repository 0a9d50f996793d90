import { checkTenantScope, type Principal } from "../auth/principal.ts";
import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, RequestFailed, requestError, throwIf, unwrap } from "../http/context.ts";
import { authenticate, readQuery } from "../http/request.ts";
import { publicOrigin } from "../http/respond.ts";
import type { NamedTenant } from "../kernel/names.ts";
import type { Writer } from "../registry/contract.ts";
import { refreshNow } from "../registry/read.ts";
import type { OfficialDeps } from "./deps.ts";
import { changeVersions, invalidServerJson, publishServerJson, serverJsonIssues } from "./publish.ts";
import { serverResponse } from "./response.ts";
import { officialName, officialPrefixes, sendWithEtag } from "./routes.ts";
import { OfficialName, type ServerJson, StatusUpdate } from "./schema.ts";
import { parseOfficialName } from "./server-json.ts";

/** Write routes of the official registry's API; the token must have the tenant before the slash. */
export function officialWriteRoutes(app: App, services: OfficialDeps): void {
  const { bounds } = services.config;

  for (const prefix of officialPrefixes) {
    app.post(`${prefix}/publish`, async (c) => {
      const principal = await authenticate(c, services, "registry:publish");
      readQuery(c, []);
      const document = await readDocument(c, { bytes: bounds.serverJsonBytes, depth: bounds.depth });
      // Check permission before validating the rest of the document.
      const { name } = (document.value ?? {}) as { name?: unknown };
      const { success, data } = OfficialName.safeParse(name);
      const writer = success ? writerOf(principal, parseOfficialName(data)) : undefined;
      const issues = [...document.issues, ...serverJsonIssues(document.value)];
      if (issues.length > 0 || writer === undefined) throw new RequestFailed(invalidServerJson(issues));
      const { version, generation } = unwrap(await publishServerJson(services, writer, document.value as ServerJson));
      readRemotes(c, services, document.value as ServerJson);
      return sendWithEtag(c, services, serverResponse(version, publicOrigin(c, services.config)), { generation });
    });

    app.patch(`${prefix}/servers/:serverName/versions/:version/status`, async (c) => {
      const { version } = c.req.param();
      const [changed] = await statusChange(c, services, version);
      if (changed === undefined) throw requestError("ErrorVersionNotFound");
      return sendWithEtag(c, services, changed);
    });

    app.patch(`${prefix}/servers/:serverName/status`, async (c) => {
      const servers = await statusChange(c, services, undefined);
      return sendWithEtag(c, services, { updatedCount: servers.length, servers });
    });

    const version = `${prefix}/servers/:serverName/versions/:version`;
    const rejectImmutable = async (c: RequestContext): Promise<never> => {
      const principal = await authenticate(c, services, "registry:publish");
      readQuery(c, []);
      writerOf(principal, parseOfficialName(officialName(c)));
      const instead = "A published version never changes: publish another, or set its status";
      throw requestError("ErrorNotImplemented", instead);
    };
    app.put(version, rejectImmutable);
    app.delete(version, rejectImmutable);

    for (const [path, allow] of [
      ["publish", "POST"],
      ["validate", "POST"],
      ["servers", "GET, HEAD"],
      ["servers/:serverName/versions", "GET, HEAD"],
      ["servers/:serverName/versions/:version", "GET, HEAD, PUT, DELETE"],
      ["servers/:serverName/versions/:version/status", "PATCH"],
      ["servers/:serverName/status", "PATCH"],
      ["ping", "GET, HEAD"],
      ["health", "GET, HEAD"],
      ["version", "GET, HEAD"],
    ]) {
      app.all(`${prefix}/${path}`, () => {
        throw requestError("ErrorMethodNotAllowed", undefined, { allow });
      });
    }
  }
}

async function statusChange(c: RequestContext, services: OfficialDeps, only: string | undefined) {
  const principal = await authenticate(c, services, "registry:publish");
  readQuery(c, []);
  const server = parseOfficialName(officialName(c));
  const writer = writerOf(principal, server);
  const { bounds } = services.config;
  const document = await readDocument(c, { bytes: bounds.configBytes, depth: bounds.depth });
  const update = parseBody(StatusUpdate, document, "ErrorBadRequest");
  if (update.status === "active" && update.statusMessage !== undefined) {
    throw requestError("ErrorBadRequest", "statusMessage cannot come with the status active");
  }
  const { versions } = unwrap(await changeVersions(services, writer, server, only, update));
  return versions.map((version) => serverResponse(version, publicOrigin(c, services.config)));
}

function writerOf(principal: Principal, { tenant, spelling }: NamedTenant): Writer {
  throwIf(checkTenantScope(principal, tenant, "registry:publish"));
  return { tenant, spelling, subject: principal.subject };
}

/** The tenant's object reads the remotes at once. Waits for it in the background, to update this Worker's caches. */
function readRemotes(c: RequestContext, services: OfficialDeps, { name, remotes = [] }: ServerJson): void {
  if (remotes.length > 0)
    c.executionCtx.waitUntil(refreshNow(services, parseOfficialName(name), { afterRunning: false }));
}
