import { isMember, type Principal } from "../auth/principal.ts";
import { listPage, type Page, type PageRequest, type ReadPage, serverKey } from "../http/page.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { compareServers, refOf, type ServerRef, type TenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type CapabilityFlag, type Shown, shownFlags } from "../manifest/flag.ts";
import { checkTenantExists, requireReadable } from "./access.ts";
import type { Head, ServerEntry, SourceDetail } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { serverFlags, serverRecord } from "./record.ts";
import type { ListedServer, ServerSettings } from "./server-schema.ts";
import { directoryEntry, listedServer } from "./summary.ts";

/** A server as lists and callers outside the tenant see it. */
export function summaryOf({ config, summary, head, updatedAt }: ServerEntry): ListedServer {
  return listedServer(directoryEntry(config, summary, head, updatedAt));
}

/** A server as members of its tenant see it. */
export function settingsOf(
  { config, head, summary, createdAt, updatedAt }: ServerEntry,
  sources: SourceDetail[] | undefined,
): ServerSettings {
  const { generation, digest, lastSynced, disabled, warnings } = head;
  const { counts, tokens = 0, version } = summary;
  const record = serverRecord(head, tokens);
  const items = disabled.map(({ kind, key }) => ({ kind, name: key }));
  return {
    ...config,
    createdAt,
    updatedAt,
    registry: { generation, digest, lastSynced, version, counts, ...record, disabled: items, sources, warnings },
  };
}

/** What a config's text was flagged for, where a server's settings show flags. */
export function configFlagsOf(head: Head): { registry?: { flags: Shown<CapabilityFlag>[] } } {
  const found = serverFlags(head).filter(({ of }) => of === "config");
  return found.length === 0 ? {} : { registry: { flags: shownFlags(found) } };
}

/**
 * Reads a server and its settings from the tenant's object: a cached head could still be public after the server became
 * private.
 */
export async function readServer(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  minGeneration = 0,
): Promise<Result<{ entry: ServerEntry; generation: number }, Failure>> {
  const error = await checkTenantExists(services, principal, ref.tenant);
  if (error !== undefined) return err(error);
  const { entry, generation } = await services.tenant(ref.tenant).server(ref.name);
  const head = requireReadable(principal, ref.tenant, { head: entry?.head, asOf: generation }, minGeneration);
  if (!head.ok) return head;
  return entry === undefined ? err(failure("ErrorMCPServerNotFound")) : ok({ entry, generation });
}

/** Selects the servers of a list. */
interface ServerList {
  /** Servers of the caller's tenants, public servers of all tenants, or both. */
  whose: "own" | "public" | "visible";
  /** Only servers of this tenant. */
  tenant?: TenantKey | undefined;
}

/** A page of servers that the caller may see; the list of an unknown tenant is empty. */
export function listServers(
  services: RegistryDeps,
  principal: Principal,
  list: ServerList,
  page: PageRequest,
): Promise<Result<Page<ListedServer>, Failure>> {
  const caller = principal.admin ? "admin" : principal.tenants;
  const scope = { list: "servers", whose: list.whose, tenant: list.tenant, caller };
  return listPage(services, page, scope, pagesOf(services, principal, list));
}

/**
 * The tenant of a list that covers only one of the caller's tenants; its generation then applies to the list. undefined
 * if the list spans tenants.
 */
export function singleTenant(principal: Principal, { whose, tenant }: ServerList): TenantKey | undefined {
  if (whose === "public") return undefined;
  if (tenant !== undefined) return isMember(principal, tenant) ? tenant : undefined;
  return whose === "own" && !principal.admin && principal.tenants.length === 1 ? principal.tenants[0] : undefined;
}

function pagesOf(services: RegistryDeps, principal: Principal, list: ServerList): ReadPage<ListedServer> {
  const sole = singleTenant(principal, list);
  if (sole !== undefined) return tenantPages(services, sole);
  const { whose, tenant } = list;
  const publicPages = directoryPages(services, tenant === undefined ? "all" : [tenant], true);
  if (whose === "public") return publicPages;
  // `singleTenant` returned undefined, so a tenant named here is not one of the caller's.
  const tenants = principal.admin ? "all" : tenant === undefined ? principal.tenants : [];
  const own = directoryPages(services, tenants, false);
  if (whose === "own" || tenants === "all") return own;
  return tenants.length === 0 ? publicPages : merged(own, publicPages);
}

/** Reads from the tenant's object, so the list is always current. */
function tenantPages(services: RegistryDeps, tenant: TenantKey): ReadPage<ListedServer> {
  return async ([, after = ""], limit) => {
    const { entries, generation } = await services.tenant(tenant).servers(after, limit);
    return { items: entries.map(summaryOf), generation };
  };
}

/** Reads a list across tenants with one query to the directory. */
function directoryPages(
  services: RegistryDeps,
  tenants: readonly TenantKey[] | "all",
  onlyPublic: boolean,
): ReadPage<ListedServer> {
  return async ([tenant = "", name = ""], limit) => {
    const after = { tenant, name };
    const { entries, generation } = await services.directory().list({ tenants, onlyPublic, after, limit });
    return { items: entries.map(listedServer), generation };
  };
}

/**
 * Merges two lists in the same order, each server once. They are read at slightly different times: the lower generation
 * is returned, so that a write in between is reported as a change rather than missed.
 */
function merged(first: ReadPage<ListedServer>, second: ReadPage<ListedServer>): ReadPage<ListedServer> {
  return async (after, limit) => {
    const [a, b] = await Promise.all([first(after, limit), second(after, limit)]);
    const byName = new Map([...b.items, ...a.items].map((entry) => [serverKey(entry).join("/"), entry]));
    const items = [...byName.values()].sort((x, y) => compareServers(refOf(x), refOf(y))).slice(0, limit);
    return { items, generation: Math.min(a.generation, b.generation) };
  };
}
