import type { IndexTenant } from "../../capability-index/contract.ts";
import type { ChangeFeed } from "../../changes/contract.ts";
import type { TenantKey } from "../../kernel/names.ts";
import type { StreamEvent } from "../../kernel/sse.ts";
import type { Head, RegistryTenant } from "../../registry/contract.ts";

/** Open MCP streams per caller; for anonymous callers, per IP address. */
export const maxListening = 16;
export const maxListeningAnonymous = 4;

type FollowedTenant = Pick<RegistryTenant & IndexTenant, "head" | "indexState" | "advertise" | "advertisedServers">;

/** MCP resources that a stream is subscribed to. */
export interface ResourceSubject {
  frame: { opening: string; closing: string };
  /** `_meta` of every notification. */
  meta: Record<string, unknown>;
  resources: FollowedResource[];
  /** Tenants whose advertised indexes are in the subscriber's resource list. */
  lists: TenantKey[];
}

/** A resource that publishers change. */
export interface FollowedResource {
  uri: string;
  tenant: TenantKey;
  /** Absent for an index of the whole tenant. */
  server?: string;
  index: boolean;
  /** True if the subscriber is not a member of the tenant: a server that is not public then counts as gone. */
  outsider: boolean;
}

/** The same limit as for a list of resources. */
const maxListedServers = 16;

/** Compares states: several changes between two reads are one notification, and a reverted change is none. */
export class FollowedResources implements ChangeFeed {
  readonly tenants: readonly TenantKey[];
  readonly position = "";
  readonly frame: ResourceSubject["frame"];
  readonly #subject: ResourceSubject;
  readonly #tenantOf: (key: TenantKey) => FollowedTenant;
  /** Last seen states by URI, and by tenant for the resource list. */
  readonly #states = new Map<string, string>();

  constructor(interest: ResourceSubject, tenantOf: (key: TenantKey) => FollowedTenant) {
    this.#subject = interest;
    this.#tenantOf = tenantOf;
    this.frame = interest.frame;
    this.tenants = [...new Set([...interest.resources.map(({ tenant }) => tenant), ...interest.lists])];
  }

  /** Runs before the subscription is acknowledged, so that no later change is missed. */
  async snapshot(): Promise<void> {
    await Promise.all(this.tenants.map((tenant) => this.next(tenant)));
  }

  async next(key: TenantKey) {
    const tenant = this.#tenantOf(key);
    const events: StreamEvent[] = [];
    for (const resource of this.#subject.resources) {
      if (resource.tenant !== key || !this.#differs(resource.uri, await stateOf(tenant, resource))) continue;
      events.push(this.#event("notifications/resources/updated", { uri: resource.uri }));
    }
    if (this.#subject.lists.includes(key) && this.#differs(key, await listStateOf(tenant))) {
      events.push(this.#event("notifications/resources/list_changed", {}));
    }
    return { events, more: false };
  }

  #differs(key: string, mark: string): boolean {
    const before = this.#states.get(key);
    this.#states.set(key, mark);
    return mark !== before;
  }

  #event(method: string, params: object): StreamEvent {
    return { name: "message", data: { jsonrpc: "2.0", method, params: { ...params, _meta: this.#subject.meta } } };
  }
}

/** The state that a resource is rendered from, as a comparable string. */
async function stateOf(tenant: FollowedTenant, { server, index, outsider }: FollowedResource): Promise<string> {
  if (index || server === undefined) {
    const { stamp, advertise, server: seen } = await tenant.indexState(server);
    return JSON.stringify([stamp, advertise ?? null, seen?.advertise ?? null]);
  }
  return headState((await tenant.head(server)).head, outsider);
}

/** For a subscriber outside the tenant, a server that is not public is gone: its changes are not notified. */
function headState(head: Head | undefined, outsider: boolean): string {
  if (head === undefined || head.deleted || (outsider && head.visibility !== "public")) return "gone";
  return `${head.digest ?? "none"}.${head.overlay}`;
}

/** A tenant's part of the resource list, as a comparable string: advertised indexes and their token counts. */
async function listStateOf(tenant: FollowedTenant): Promise<string> {
  const [{ current }, advertised] = await Promise.all([tenant.advertise(), tenant.advertisedServers(maxListedServers)]);
  return JSON.stringify([current?.settings ?? null, advertised]);
}
