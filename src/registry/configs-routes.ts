import { isMember } from "../auth/principal.ts";
import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, throwIf, unwrap } from "../http/context.ts";
import { readPageRequest } from "../http/page.ts";
import { authenticate, freshnessOf, readQuery, serverName, serverRef, tenantName } from "../http/request.ts";
import { sendConditional, sendData } from "../http/respond.ts";
import { etagOf } from "../kernel/etag.ts";
import { type CapabilityFlag, type Shown, shownFlags } from "../manifest/flag.ts";
import { checkMember, checkMinGeneration } from "./access.ts";
import type { Head, ServerEntry, SourceDetail, Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { refreshNow } from "./read.ts";
import { ServerConfig } from "./schema.ts";
import { listServers, readServer, singleTenant, summaryOf } from "./servers.ts";
import { authorizeWrite, effectiveBy, writeMeta, writerOf } from "./write.ts";

const listPath = "/api/mcp/configs";
const onePath = "/api/mcp/configs/:tenant/:name";

/** List, create, read, replace and delete servers and their configs. */
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
    const { config, writer } = await readConfigWrite(c, services);
    const { head, generation } = unwrap(await services.tenant(config.tenant).createServer(writer, config));
    await services.heads.confirm(head);
    readSources(c, services, config);
    const message = "MCP server created successfully";
    return sendData(c, services, { ...config, generation, ...flagged(head) }, { ...writeMeta(head, 201), message });
  });

  app.put(listPath, async (c) => {
    const { config, writer } = await readConfigWrite(c, services);
    const { head, generation, narrowed } = unwrap(await services.tenant(config.tenant).replaceConfig(writer, config));
    await services.heads.confirm(head);
    readSources(c, services, config);
    const until = narrowed ? { effectiveBy: effectiveBy(services.now()) } : {};
    const message = "MCP server updated successfully";
    const data = { ...config, generation, ...until, ...flagged(head) };
    return sendData(c, services, data, { ...writeMeta(head), message });
  });

  app.get(onePath, async (c) => {
    readQuery(c, []);
    const ref = serverRef(c);
    const { minGeneration } = freshnessOf(c);
    const principal = await authenticate(c, services, "registry:read");
    const { entry, generation } = unwrap(await readServer(services, principal, ref, minGeneration));
    const meta = { etag: etagOf(entry.head, "config3"), generation, source: "object" as const };
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
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, DELETE" });
  });
}

/** Keys that responses add to a config; a write ignores them. */
const answerKeys = ["createdAt", "updatedAt", "registry", "generation", "effectiveBy"];

function shown({ config, head, summary, createdAt, updatedAt }: ServerEntry, sources: SourceDetail[] | undefined) {
  const { generation, digest, lastSynced, disabled, warnings } = head;
  const flags = shownFlags(head.flags);
  const { counts, tokens, version } = summary;
  const items = disabled.map(({ kind, key }) => ({ kind, name: key }));
  return {
    ...config,
    createdAt,
    updatedAt,
    registry: { generation, digest, lastSynced, version, counts, tokens, disabled: items, flags, sources, warnings },
  };
}

/** What a config's text was flagged for, where GET shows the flags of a server. */
function flagged({ flags }: Head): { registry?: { flags: Shown<CapabilityFlag>[] } } {
  const found = flags.filter(({ of }) => of === "config");
  return found.length === 0 ? {} : { registry: { flags: shownFlags(found) } };
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
 * The config in the request body, and its writer. Permission is checked before the rest of the document is validated.
 */
async function readConfigWrite(
  c: RequestContext,
  services: RegistryDeps,
): Promise<{ config: ServerConfig; writer: Writer }> {
  const principal = await authenticate(c, services, "registry:publish");
  readQuery(c, []);
  const { bounds } = services.config;
  const document = await readDocument(c, { bytes: bounds.configBytes, depth: bounds.depth });
  const value = (typeof document.value === "object" && document.value !== null ? document.value : {}) as Record<
    string,
    unknown
  >;
  const tenant = tenantName(value.tenant);
  const writer = writerOf(c, principal, tenant);
  serverName(value.name);
  const declared = Object.fromEntries(Object.entries(value).filter(([key]) => !answerKeys.includes(key)));
  return { config: parseBody(ServerConfig, { ...document, value: declared }), writer };
}
