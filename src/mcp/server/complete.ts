import { checkScope, isMember, type Principal } from "../../auth/principal.ts";
import { ServerName, TenantKey, tenantKey } from "../../kernel/names.ts";
import { type PublishedManifest, readManifest } from "../../registry/read.ts";
import { summaryOf } from "../../registry/servers.ts";
import { standardViews, viewsOf } from "../../registry/views/extensions.ts";
import { generatorsOf } from "../../registry/views/generators.ts";
import type { McpDeps } from "../deps.ts";
import { advertisedVariants } from "../resources/index-resources.ts";
import { ownResourceTemplates } from "../resources/own-resources.ts";
import type { McpCaller } from "./caller.ts";
import { ownPrompts } from "./prompts.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";

/** Servers read per completion. Several servers can have the same tenant, so fewer tenants may be found. */
const maxServersRead = 200;

const nameCharacters = /^[A-Za-z0-9._-]*$/;

/** Tenants with this prefix that the caller may see, sorted: its own, and those with public servers. */
async function tenantsLike(services: McpDeps, principal: Principal, start: string): Promise<string[]> {
  if (!nameCharacters.test(start)) return [];
  const prefix = tenantKey(start);
  const after = { tenant: keyBeforePrefix(prefix), name: "" };
  const directory = services.directory();
  const { tenants: own } = principal;
  const lists = await Promise.all([
    directory.list({ tenants: "all", onlyPublic: true, after, limit: maxServersRead }),
    ...(own.length === 0 ? [] : [directory.list({ tenants: own, onlyPublic: false, after, limit: maxServersRead })]),
  ]);
  // A tenant of the caller that has no server yet is shown by its key.
  const found = lists.flatMap(({ entries }) => entries.map(({ tenant }) => [tenantKey(tenant), tenant] as const));
  const shown = new Map<TenantKey, string>([...own.map((key) => [key, key] as const), ...found]);
  const matching = [...shown].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
  return matching.map(([, tenant]) => tenant);
}

/** Servers of a tenant with this prefix that the caller may see. */
async function serversLike(
  services: McpDeps,
  principal: Principal,
  tenant: TenantKey,
  start: string,
): Promise<string[]> {
  if (!nameCharacters.test(start)) return [];
  const after = keyBeforePrefix(start);
  const entries = isMember(principal, tenant)
    ? (await services.tenant(tenant).servers(after, maxServersRead)).entries.map(summaryOf)
    : (
        await services
          .directory()
          .list({ tenants: [tenant], onlyPublic: true, after: { tenant, name: after }, limit: maxServersRead })
      ).entries;
  return entries.map(({ name }) => name).filter((name) => name.startsWith(start));
}

/** Names from the manifest of the server that is given; none if the caller may not read it; undefined without a server. */
async function ofServer(
  services: McpDeps,
  principal: Principal,
  given: Record<string, string>,
  names: (published: PublishedManifest) => string[],
): Promise<string[] | undefined> {
  const [tenant, name] = [TenantKey.safeParse(given.tenant), ServerName.safeParse(given.name)];
  if (!tenant.success || !name.success) return undefined;
  if (checkScope(principal, "registry:read") !== undefined) return [];
  const read = await readManifest(services, principal, { tenant: tenant.data, name: name.data });
  return read.ok ? names(read.value) : [];
}

/** A string that sorts directly before all names with this prefix. */
function keyBeforePrefix(start: string): string {
  if (start === "") return "";
  const last = start.charCodeAt(start.length - 1);
  return `${start.slice(0, -1)}${String.fromCharCode(last - 1)}~`;
}

/** MCP's limit for one completion response. */
const maxValues = 100;

export interface CompletionRequest {
  ref: { type: "ref/resource"; uri: string } | { type: "ref/prompt"; name: string };
  argument: { name: string; value: string };
  context?: { arguments?: Record<string, string> | undefined } | undefined;
}

interface Completion {
  values: string[];
  total: number;
  hasMore: boolean;
}

/** Completes an argument of a resource template or prompt with values that the caller may see. */
export async function complete(caller: McpCaller, request: CompletionRequest): Promise<Completion> {
  const { ref, argument } = request;
  if (!parametersOf(ref).includes(argument.name)) {
    throw new RpcError(invalidParams, `${nameOf(ref)} has no parameter ${JSON.stringify(argument.name.slice(0, 64))}`);
  }
  const values = await valuesOf(caller, argument, request.context?.arguments ?? {}, ref);
  return { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues };
}

async function valuesOf(
  { services, principal }: McpCaller,
  { name, value }: CompletionRequest["argument"],
  otherArguments: Record<string, string>,
  ref: CompletionRequest["ref"],
): Promise<string[]> {
  switch (name) {
    case "tenant":
      return tenantsLike(services, principal, value);
    case "name": {
      const tenant = TenantKey.safeParse(otherArguments.tenant);
      return tenant.success ? serversLike(services, principal, tenant.data, value) : [];
    }
    case "view": {
      const views = await ofServer(services, principal, otherArguments, ({ manifest, head }) =>
        viewsOf(manifest, head),
      );
      return (views ?? standardViews).filter((view) => view.startsWith(value));
    }
    case "type": {
      const typesIn = ({ manifest, head }: PublishedManifest) => generatorsOf(manifest, head).map(({ type }) => type);
      const types = (await ofServer(services, principal, otherArguments, typesIn)) ?? [];
      return types.filter((type) => type.startsWith(value)).sort();
    }
    case "variant": {
      const [tenant, server] = [TenantKey.safeParse(otherArguments.tenant), ServerName.safeParse(otherArguments.name)];
      const owner = { tenant: tenant.data, name: server.data };
      const variants = await advertisedVariants(services, principal, owner, parametersOf(ref).includes("name"));
      return variants.filter((variant) => variant.startsWith(value));
    }
    default:
      return [];
  }
}

function parametersOf(ref: CompletionRequest["ref"]): string[] {
  if (ref.type === "ref/prompt") {
    const prompt = ownPrompts.find(({ name }) => name === ref.name);
    if (prompt !== undefined) return prompt.arguments.map(({ name }) => name);
  } else if (ownResourceTemplates.some(({ uriTemplate }) => uriTemplate === ref.uri)) {
    return Array.from(ref.uri.matchAll(/\{(\w+)\}/g), (match) => match[1] ?? "");
  }
  throw new RpcError(invalidParams, `Unknown ${nameOf(ref)}`);
}

function nameOf(ref: CompletionRequest["ref"]): string {
  const [kind, name] = ref.type === "ref/prompt" ? ["prompt", ref.name] : ["resource template", ref.uri];
  return `${kind} ${JSON.stringify(name.slice(0, 256).toWellFormed())}`;
}
