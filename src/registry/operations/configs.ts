import { z } from "zod";
import { isMember } from "../../auth/principal.ts";
import { manager, memberWhereNamed, reader } from "../../http/access.ts";
import { type RequestContext, requestError, throwIf, unwrap } from "../../http/context.ts";
import { idempotencyHeader, idempotencyOf } from "../../http/idempotency.ts";
import { operation } from "../../http/operation.ts";
import { freshnessFrom, page, reading, server, writing } from "../../http/parameters.ts";
import { serverName } from "../../http/request.ts";
import { etagOf } from "../../kernel/etag.ts";
import { type ServerRef, TenantKey } from "../../kernel/names.ts";
import type { StrictJson } from "../../kernel/strict-json.ts";
import { checkMinGeneration } from "../access.ts";
import { checkSameServer, newServerWarnings, parseConfig, readConfigMembers } from "../config-change.ts";
import type { Writer } from "../contract.ts";
import type { RegistryDeps } from "../deps.ts";
import { refreshNow } from "../read.ts";
import { ServerConfig } from "../schema.ts";
import { ChangedConfigResult, ConfigChange, ConfigResult, DeleteResult, Server, ServerPage } from "../server-schema.ts";
import { configFlagsOf, listServers as listPage, readServer, settingsOf, singleTenant, summaryOf } from "../servers.ts";
import { effectiveBy, writeMeta, writerFrom } from "../write.ts";
import { readFails } from "./answer-view.ts";

const listPath = "/api/mcp/configs";
const onePath = "/api/mcp/configs/{tenant}/{name}";

const minGeneration = { "Rollcall-Min-Generation": reading["Rollcall-Min-Generation"] };
const ifMatch = { "If-Match": writing["If-Match"] };

const listServers = operation({
  id: "listServers",
  method: "get",
  path: listPath,
  tag: "Publish",
  summary: "List servers",
  description: "Those of the caller's tenants or, with `visibility=public`, the public ones of all tenants.",
  access: memberWhereNamed,
  parameters: {
    query: {
      tenant: TenantKey.optional().describe("Only servers of this tenant."),
      visibility: z.enum(["public"]).optional().describe("The public servers of every tenant."),
      ...page(30),
    },
    headers: minGeneration,
  },
  answers: {
    200: {
      description: "A page in order of tenant and name.",
      data: ServerPage,
      headers: { "Rollcall-Generation": "The tenant's generation, if the list is of one tenant." },
    },
  },
  examples: {
    own: { query: { tenant: "demo", limit: 10 } },
    public: { summary: "The public servers of every tenant", query: { visibility: "public" } },
  },

  async handle(services: RegistryDeps, { principal, tenant, query: { visibility, limit, cursor }, headers, answer }) {
    const list = { whose: visibility ?? ("own" as const), tenant };
    const sole = singleTenant(principal, list);
    const { minGeneration: wanted } = freshnessFrom(headers);
    if (wanted > 0 && sole === undefined) {
      throw requestError(
        "ErrorBadRequest",
        "Rollcall-Min-Generation needs `?tenant=`, because generations are per tenant",
      );
    }
    const found = unwrap(await listPage(services, principal, list, { limit, cursor }));
    throwIf(checkMinGeneration(wanted, found.generation));
    const meta = { message: "MCP server list retrieved successfully", source: "object" as const };
    // A list across tenants has no tenant generation; the page's own is the directory's and only detects changes
    // between pages.
    return answer(200, found, sole === undefined ? meta : { ...meta, generation: found.generation });
  },
});

/** A config that was read may be sent back: members that answers add are ignored. */
const body = { schema: ServerConfig, read: "document", limit: "configBytes" } as const;
const nameFails = ["ErrorMCPServerNameRequired", "ErrorMCPServerNameInvalid"] as const;

const createServer = operation({
  id: "createServer",
  method: "post",
  path: listPath,
  tag: "Publish",
  summary: "Register a server",
  access: manager("body"),
  parameters: { headers: idempotencyHeader },
  body,
  answers: {
    201: { description: "Registered.", data: ConfigResult, etag: true, generation: true, directory: "sometimes" },
  },
  fails: [...nameFails, "ErrorMCPServerExists"],
  examples: {
    notes: { body: { tenant: "demo", name: "notes", title: "Notes", visibility: "tenant" }, status: 201 },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, body: document, headers, c, answer }) {
    serverName((document.value as { name?: unknown } | null)?.name);
    const { members, ...read } = unwrap(readConfigMembers(document));
    const config = unwrap(parseConfig(members));
    const idempotency = await idempotencyOf(headers, { operation: "createServer", tenant, body: members });
    const writer = { ...writerFrom(principal, { tenant, spelling }), idempotency };
    const { head, generation, directory } = unwrap(await services.tenant(tenant).createServer(writer, config));
    await services.heads.confirm(head, directory);
    readSources(c, services, tenant, config);
    const message = "MCP server created successfully";
    const warnings = listed(newServerWarnings(read));
    const data = { ...config, tenant: head.tenant, generation, warnings, ...configFlagsOf(head) };
    return answer(201, data, { ...writeMeta({ head, directory }), message });
  },
});

/**
 * The tenant's object reads new sources at once. This waits for that refresh in the background, to put the resulting
 * head into the caches of this data centre.
 */
function readSources(c: RequestContext, services: RegistryDeps, tenant: TenantKey, config: ServerConfig): void {
  const { name, sources } = config;
  if (sources !== undefined && sources.length > 0) {
    c.executionCtx.waitUntil(refreshNow(services, { tenant, name }, { afterRunning: false }));
  }
}

const listed = (warnings: string[]) => (warnings.length === 0 ? undefined : warnings);

const changed = {
  200: {
    description: "Changed, or unchanged.",
    data: ChangedConfigResult,
    etag: true,
    generation: true,
    directory: "sometimes",
  },
} as const;

const changeServer = operation({
  id: "changeServer",
  method: "put",
  path: listPath,
  tag: "Publish",
  summary: "Change the settings that the body names",
  description: "Absent members keep their value; `null` removes. The same as `PATCH` at the server's own address.",
  access: manager("body"),
  parameters: { headers: ifMatch },
  body,
  answers: changed,
  fails: [...nameFails, "ErrorMCPServerNotFound"],
  examples: {
    petstore: {
      body: { tenant: "demo", name: "petstore", title: "Pet store", description: "An example HTTP API." },
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, headers, body: document, c, answer }) {
    const name = serverName((document.value as { name?: unknown } | null)?.name);
    const writer = writerFrom(principal, { tenant, spelling }, headers);
    const { data, meta } = await change(services, c, { tenant, name }, writer, document);
    return answer(200, data, meta);
  },
});

const patchServer = operation({
  id: "patchServer",
  method: "patch",
  path: onePath,
  tag: "Publish",
  summary: "Change the settings that the body names",
  description: "Absent members keep their value; `null` removes.",
  access: manager("path"),
  parameters: { path: server, headers: ifMatch },
  body: { ...body, schema: ConfigChange },
  answers: changed,
  fails: ["ErrorMCPServerNotFound"],
  examples: {
    title: { path: { tenant: "demo", name: "petstore" }, body: { title: "Pet store", description: null } },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path, headers, body: document, c, answer }) {
    const writer = writerFrom(principal, { tenant, spelling }, headers);
    const { data, meta } = await change(services, c, { tenant, name: path.name }, writer, document);
    return answer(200, data, meta);
  },
});

/** Changes what a document names of a server's config. */
async function change(
  services: RegistryDeps,
  c: RequestContext,
  { tenant, name }: ServerRef,
  writer: Writer,
  document: StrictJson,
) {
  const read = unwrap(readConfigMembers(document));
  throwIf(checkSameServer(read.members, { tenant, name }));
  const outcome = unwrap(await services.tenant(tenant).changeConfig(writer, name, read));
  const { head, generation, config, members, narrowed, warnings, directory } = outcome;
  await services.heads.confirm(head, directory);
  if (narrowed && head.visibility === "tenant") services.publicAnswers?.forget({ tenant, name });
  if (members.includes("sources")) readSources(c, services, tenant, config);
  const until = narrowed ? effectiveBy(services.now()) : undefined;
  const data = {
    ...{ ...config, generation, changed: members, warnings: listed(warnings), effectiveBy: until },
    ...configFlagsOf(head),
  };
  return { data, meta: { ...writeMeta(outcome), message: "MCP server updated successfully" } };
}

const getServer = operation({
  id: "getServer",
  method: "get",
  path: onePath,
  tag: "Publish",
  summary: "Read a server's settings",
  description: "With what the registry knows of the server. Callers outside its tenant see what lists show.",
  access: reader,
  parameters: { path: server, headers: { ...minGeneration, "If-None-Match": reading["If-None-Match"] } },
  answers: { 200: { description: "The settings.", data: Server, etag: true, generation: true } },
  fails: readFails,
  examples: { weather: { path: { tenant: "demo", name: "weather" } } },

  async handle(services: RegistryDeps, { principal, path: ref, headers, answer }) {
    const { minGeneration: wanted } = freshnessFrom(headers);
    const { entry, generation } = unwrap(await readServer(services, principal, ref, wanted));
    const message = "MCP server information retrieved successfully";
    const meta = { etag: etagOf(entry.head, "config3"), generation, source: "object" as const, message };
    const unchanged = answer.unchanged(meta);
    if (unchanged !== undefined) return unchanged;
    // Sources, policy and the rest of the config are visible to members only.
    if (!isMember(principal, ref.tenant)) return answer(200, summaryOf(entry), meta);
    const hasSources = entry.head.sources !== undefined;
    const sources = hasSources ? await services.tenant(ref.tenant).sources(ref.name) : undefined;
    return answer(200, settingsOf(entry, sources), meta);
  },
});

const deleteServer = operation({
  id: "deleteServer",
  method: "delete",
  path: onePath,
  tag: "Publish",
  summary: "Delete a server and its history",
  access: manager("path"),
  parameters: { path: server, headers: ifMatch },
  answers: { 200: { description: "Deleted.", data: DeleteResult, generation: true, directory: "sometimes" } },
  fails: ["ErrorMCPServerNotFound"],
  examples: {
    calculator: {
      path: { tenant: "demo", name: "calculator" },
      after: { id: "publishManifest", take: () => ({}) },
    },
  },

  async handle(services: RegistryDeps, { principal, tenant, spelling, path: { name }, headers, answer }) {
    const writer = writerFrom(principal, { tenant, spelling }, headers);
    const { head, generation, directory } = unwrap(await services.tenant(tenant).deleteServer(writer, name));
    await services.heads.confirm(head, directory);
    services.publicAnswers?.forget({ tenant, name });
    const data = { generation, effectiveBy: effectiveBy(services.now()) };
    const { etag: _, ...meta } = writeMeta({ head, directory });
    return answer(200, data, { ...meta, message: "MCP server deleted successfully" });
  },
});

export const configsOperations = [listServers, createServer, changeServer, getServer, patchServer, deleteServer];
