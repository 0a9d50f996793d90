import { isMember } from "../auth/principal.ts";
import { readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, throwIf, unwrap } from "../http/context.ts";
import { readPageRequest } from "../http/page.ts";
import { authenticate, freshnessOf, readQuery, serverName, serverRef, tenantName } from "../http/request.ts";
import { sendConditional, sendData } from "../http/respond.ts";
import { etagOf } from "../kernel/etag.ts";
import { isObject } from "../kernel/json.ts";
import type { ServerRef } from "../kernel/names.ts";
import { checkMember, checkMinGeneration } from "./access.ts";
import {
  type ConfigMembers,
  checkSameServer,
  newServerWarnings,
  parseConfig,
  readConfigMembers,
} from "./config-change.ts";
import type { ServerEntry, SourceDetail, Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { refreshNow } from "./read.ts";
import type { ServerConfig } from "./schema.ts";
import { listServers, readServer, singleTenant, summaryOf } from "./servers.ts";
import { authorizeWrite, effectiveBy, writeMeta, writerOf } from "./write.ts";

const listPath = "/api/mcp/configs";
const onePath = "/api/mcp/configs/:tenant/:name";

/** List, create, read, change and delete servers and their configs. */
export function configsRoutes(app: App, services: RegistryDeps): void {
  app.get(listPath, async (c) => {
    const principal = await authenticate(c, services, "registry:read");
    const query = readQuery(c, ["tenant", "visibility", "limit", "cursor"]);
    const tenant = query.tenant === undefined ? undefined : tenantName(query.tenant);
    if (tenant !== undefined) throwIf(checkMember(principal, tenant));
    if (query.visibility !== undefined && query.visibility !== "public") {
      throw requestError("ErrorBadRequest", 'visibility can only be "public": the public servers of every tenant');
    }
    const list = { whose: query.visibility === "public" ? ("public" as const) : ("own" as const), tenant };
    const sole = singleTenant(principal, list);
    const { minGeneration } = freshnessOf(c);
    if (minGeneration > 0 && sole === undefined) {
      throw requestError("ErrorBadRequest", "Rollcall-Min-Generation is a tenant's: name one with ?tenant=");
    }
    const page = unwrap(await listServers(services, principal, list, readPageRequest(query)));
    throwIf(checkMinGeneration(minGeneration, page.generation));
    const meta = { message: "MCP server list retrieved successfully", source: "object" as const };
    // A list across tenants has no tenant generation; the page's own is the directory's and only detects changes
    // between pages.
    return sendData(c, services, page, sole === undefined ? meta : { ...meta, generation: page.generation });
  });

  app.post(listPath, async (c) => {
    const { members, writer, ...read } = await readConfigWrite(c, services);
    const config = unwrap(parseConfig(members));
    const { head, generation } = unwrap(await services.tenant(config.tenant).createServer(writer, config));
    await services.heads.confirm(head);
    readSources(c, services, config);
    const message = "MCP server created successfully";
    const data = { ...config, generation, warnings: listed(newServerWarnings(read)) };
    return sendData(c, services, data, { ...writeMeta(head, 201), message });
  });

  app.put(listPath, async (c) => {
    const { ref, writer, ...change } = await readConfigWrite(c, services);
    return changeServer(c, services, ref, writer, change);
  });

  app.patch(onePath, async (c) => {
    const { ref, writer, ...change } = await readConfigWrite(c, services, serverRef(c));
    return changeServer(c, services, ref, writer, change);
  });

  app.get(onePath, async (c) => {
    readQuery(c, []);
    const ref = serverRef(c);
    const { minGeneration } = freshnessOf(c);
    const principal = await authenticate(c, services, "registry:read");
    const { entry, generation } = unwrap(await readServer(services, principal, ref, minGeneration));
    const meta = { etag: etagOf(entry.head, "config"), generation, source: "object" as const };
    return sendConditional(c, services, meta, async () => {
      const message = "MCP server information retrieved successfully";
      // Sources, policy and the rest of the config are visible to members only.
      if (!isMember(principal, ref.tenant)) return sendData(c, services, summaryOf(entry), { ...meta, message });
      const hasSources = entry.head.sources !== undefined;
      const sources = hasSources ? await services.tenant(ref.tenant).sources(ref.name) : undefined;
      return sendData(c, services, shown(entry, sources), { ...meta, message });
    });
  });

  app.delete(onePath, async (c) => {
    const ref = serverRef(c);
    const writer = await authorizeWrite(c, services, ref.tenant);
    readQuery(c, []);
    const { head, generation } = unwrap(await services.tenant(ref.tenant).deleteServer(writer, ref.name));
    await services.heads.confirm(head);
    const data = { generation, effectiveBy: effectiveBy(services.now()) };
    const meta = { generation: head.asOf, source: "object" as const, message: "MCP server deleted successfully" };
    return sendData(c, services, data, meta);
  });

  app.all(listPath, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, POST, PUT" });
  });
  app.all(onePath, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, PATCH, DELETE" });
  });
}

/** Changes what the request names of a server's config, and says what that was. */
async function changeServer(
  c: RequestContext,
  services: RegistryDeps,
  { tenant, name }: ServerRef,
  writer: Writer,
  change: ConfigMembers,
): Promise<Response> {
  const changed = unwrap(await services.tenant(tenant).changeConfig(writer, name, change));
  const { head, generation, config, members, narrowed, warnings } = changed;
  await services.heads.confirm(head);
  if (members.includes("sources")) readSources(c, services, config);
  const until = narrowed ? effectiveBy(services.now()) : undefined;
  const data = { ...config, generation, changed: members, warnings: listed(warnings), effectiveBy: until };
  return sendData(c, services, data, { ...writeMeta(head), message: "MCP server updated successfully" });
}

const listed = (warnings: string[]) => (warnings.length === 0 ? undefined : warnings);

function shown({ config, head, summary, createdAt, updatedAt }: ServerEntry, sources: SourceDetail[] | undefined) {
  const { generation, digest, lastSynced, disabled, flags, warnings } = head;
  const { counts, tokens, version } = summary;
  const items = disabled.map(({ kind, key }) => ({ kind, name: key }));
  return {
    ...config,
    createdAt,
    updatedAt,
    registry: { generation, digest, lastSynced, version, counts, tokens, disabled: items, flags, sources, warnings },
  };
}

/**
 * The tenant's object reads new sources at once. This waits for that refresh in the background, to put the resulting
 * head into the caches of this data centre.
 */
function readSources(c: RequestContext, services: RegistryDeps, { tenant, name, sources }: ServerConfig): void {
  if (sources !== undefined && sources.length > 0) {
    c.executionCtx.waitUntil(refreshNow(services, { tenant, name }, { afterRunning: false }));
  }
}

/**
 * The members of a config in the request body, and their writer. Permission is checked before the rest of the document
 * is validated. `at`: the server that the path names.
 */
async function readConfigWrite(
  c: RequestContext,
  services: RegistryDeps,
  at?: ServerRef,
): Promise<ConfigMembers & { ref: ServerRef; writer: Writer }> {
  const principal = await authenticate(c, services, "registry:publish");
  const early = at && writerOf(c, principal, at.tenant);
  readQuery(c, []);
  const { bounds } = services.config;
  const document = await readDocument(c, { bytes: bounds.configBytes, depth: bounds.depth });
  const value = isObject(document.value) ? document.value : {};
  const tenant = at?.tenant ?? tenantName(value.tenant);
  const writer = early ?? writerOf(c, principal, tenant);
  const name = at?.name ?? serverName(value.name);
  const read = unwrap(readConfigMembers(document));
  throwIf(checkSameServer(read.members, { tenant, name }));
  return { ...read, ref: { tenant, name }, writer };
}
