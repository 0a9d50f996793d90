import { tenantObjection } from "../auth/permission.ts";
import type { Principal } from "../auth/principal.ts";
import { effectiveBy } from "../domain/contract.ts";
import { etagOf, matchesEtag } from "../domain/etag.ts";
import { type DirectoryEntry, directoryEntry } from "../domain/server-summary.ts";
import { notModified, succeed } from "../http/answer.ts";
import { readDocument } from "../http/body.ts";
import { type App, bad, type RequestContext, refuse, unwrap } from "../http/context.ts";
import { paged, type ReadPage } from "../http/paged.ts";
import { readObject } from "../http/read-view.ts";
import { admit, freshnessOf, generationAhead, parameters, serverName, serverRef, tenantName } from "../http/request.ts";
import { validated } from "../http/validate.ts";
import { asWriter, writerTo, written } from "../http/write.ts";
import type { ServerEntry } from "../objects/tenant/servers.ts";
import type { Writer } from "../objects/tenant/tenant-object.ts";
import { ServerConfig } from "../schemas/index.ts";
import type { Services } from "../services.ts";

const listPath = "/api/mcp/configs";
const onePath = "/api/mcp/configs/:tenant/:name";

/** Servers and their settings. */
export function configsRoutes(app: App, services: Services): void {
  app.get(listPath, async (c) => {
    const principal = await admit(c, services, "registry:read");
    const query = parameters(c, ["tenant", "visibility", "limit", "cursor"]);
    const tenant = query.tenant === undefined ? undefined : tenantName(query.tenant);
    if (tenant !== undefined) refuse(tenantObjection(principal, tenant, "registry:read"));
    if (query.visibility !== undefined && query.visibility !== "public") {
      throw bad("ErrorBadRequest", 'visibility can only be "public": the public servers of every tenant');
    }
    const onlyPublic = query.visibility === "public";
    const one = onlyPublic ? undefined : (tenant ?? onlyTenant(principal));
    const { minGeneration } = freshnessOf(c);
    if (minGeneration > 0 && one === undefined) {
      throw bad("ErrorBadRequest", "Rollcall-Min-Generation is a tenant's: name one with ?tenant=");
    }
    const list = one === undefined ? across(services, principal, tenant, onlyPublic) : within(services, one);
    const scope = { list: "configs", tenant, visibility: query.visibility, caller: callerScope(principal) };
    const page = await paged(services, query, scope, list);
    if (page.generation < minGeneration) throw generationAhead(minGeneration, page.generation);
    const meta = { message: "MCP server list retrieved successfully", source: "object" as const };
    // Across tenants there is no tenant's generation to speak of; the one in the page only orders its pages.
    return succeed(c, services, page, one === undefined ? meta : { ...meta, generation: page.generation });
  });

  app.post(listPath, async (c) => {
    const { config, writer } = await submitted(c, services);
    const { head, generation } = unwrap(await services.tenant(config.tenant).createServer(writer, config));
    await services.heads.confirm(head);
    const message = "MCP server created successfully";
    return succeed(c, services, { ...config, generation }, { ...written(head, 201), message });
  });

  app.put(listPath, async (c) => {
    const { config, writer } = await submitted(c, services);
    const { head, generation, narrowed } = unwrap(await services.tenant(config.tenant).replaceConfig(writer, config));
    await services.heads.confirm(head);
    const until = narrowed ? { effectiveBy: effectiveBy(services.now()) } : {};
    const message = "MCP server updated successfully";
    return succeed(c, services, { ...config, generation, ...until }, { ...written(head), message });
  });

  app.get(onePath, async (c) => {
    parameters(c, []);
    const { ref, permit, outsider } = await readObject(c, services);
    const { entry, generation } = await services.tenant(ref.tenant).server(ref.name);
    permit(entry === undefined ? { generation } : { head: entry.head, generation });
    if (entry === undefined) throw bad("ErrorMCPServerNotFound");
    const meta = { etag: etagOf(entry.head, "config"), generation, source: "object" as const };
    const ifNoneMatch = c.req.header("If-None-Match");
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, meta.etag)) return notModified(c, services, meta);
    const message = "MCP server information retrieved successfully";
    // Sources, policy and whatever else is in a config are the tenant's own business.
    return succeed(c, services, outsider ? summaryOf(entry) : shown(entry), { ...meta, message });
  });

  app.delete(onePath, async (c) => {
    const ref = serverRef(c);
    const writer = await writerTo(c, services, ref.tenant);
    parameters(c, []);
    const { head, generation } = unwrap(await services.tenant(ref.tenant).deleteServer(writer, ref.name));
    await services.heads.confirm(head);
    const data = { generation, effectiveBy: effectiveBy(services.now()) };
    const meta = { generation: head.asOf, source: "object" as const, message: "MCP server deleted successfully" };
    return succeed(c, services, data, meta);
  });

  app.all(listPath, () => {
    throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, POST, PUT" });
  });
  app.all(onePath, () => {
    throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD, DELETE" });
  });
}

function onlyTenant({ admin, tenants }: Principal): string | undefined {
  return admin || tenants.length !== 1 ? undefined : tenants[0];
}

/** One tenant is asked itself, so its list is never behind. */
function within(services: Services, tenant: string): ReadPage<DirectoryEntry> {
  return async ([, after = ""], limit) => {
    services.operations.objectCalls += 1;
    const { entries, generation } = await services.tenant(tenant).servers(after, limit);
    return { items: entries.map(summaryOf), generation };
  };
}

/** A list across tenants is one query to the directory. */
function across(
  services: Services,
  principal: Principal,
  tenant: string | undefined,
  onlyPublic: boolean,
): ReadPage<DirectoryEntry> {
  const own = principal.admin ? "all" : principal.tenants;
  const everyones = tenant === undefined ? "all" : [tenant];
  return async ([afterTenant = "", afterName = ""], limit) => {
    services.operations.objectCalls += 1;
    const after = { tenant: afterTenant, name: afterName };
    const tenants = onlyPublic ? everyones : own;
    const { entries, generation } = await services.directory().list({ tenants, onlyPublic, after, limit });
    return { items: entries, generation };
  };
}

function callerScope({ admin, tenants }: Principal) {
  return admin ? "admin" : tenants;
}

function summaryOf({ config, summary, head, updatedAt }: ServerEntry): DirectoryEntry {
  const { generation, digest } = head;
  return directoryEntry(config, summary, { generation, updatedAt, ...(digest === undefined ? {} : { digest }) });
}

/** Names that answers add to a config and a write ignores. */
const answerKeys = ["createdAt", "updatedAt", "registry", "generation", "effectiveBy"];

function shown({ config, head, summary, createdAt, updatedAt }: ServerEntry) {
  const { generation, digest, lastSynced, disabled, flags } = head;
  const { counts, tokens, version } = summary;
  const items = disabled.map(({ kind, key }) => ({ kind, name: key }));
  return {
    ...config,
    createdAt,
    updatedAt,
    registry: { generation, digest, lastSynced, version, counts, tokens, disabled: items, flags },
  };
}

/** The config in a body, and who is writing it. Permission comes before the rest of the document is looked at. */
async function submitted(c: RequestContext, services: Services): Promise<{ config: ServerConfig; writer: Writer }> {
  const principal = await admit(c, services, "registry:publish");
  parameters(c, []);
  const { bounds } = services.config;
  const document = await readDocument(c, { bytes: bounds.configBytes, depth: bounds.depth });
  const value = (typeof document.value === "object" && document.value !== null ? document.value : {}) as Record<
    string,
    unknown
  >;
  const tenant = tenantName(value.tenant);
  const writer = asWriter(c, principal, tenant);
  serverName(value.name);
  const declared = Object.fromEntries(Object.entries(value).filter(([key]) => !answerKeys.includes(key)));
  return { config: validated(ServerConfig, { ...document, value: declared }), writer };
}
