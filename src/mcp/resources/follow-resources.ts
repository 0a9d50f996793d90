import type { IndexTenant } from "../../capability-index/contract.ts";
import type { ChangeFeed } from "../../changes/contract.ts";
import type { StreamEvent } from "../../kernel/sse.ts";
import type { Head, RegistryTenant } from "../../registry/contract.ts";

type FollowedTenant = Pick<RegistryTenant & IndexTenant, "head" | "indexState" | "advertise" | "advertisedServers">;

/** MCP resources that somebody listens to: whatever differs from how it was when they began is told. */
export interface ResourceSubject {
  kind: "resources";
  frame: { opening: string; closing: string };
  /** Goes with every message. */
  meta: Record<string, unknown>;
  resources: FollowedResource[];
  /** Tenants whose advertised indexes are in the reader's list of resources. */
  lists: string[];
}

/** A resource that publishers change. */
export interface FollowedResource {
  uri: string;
  tenant: string;
  /** Absent for an index of the whole tenant. */
  server?: string;
  index: boolean;
  /** Of someone outside the tenant: told of it only while it is public. */
  outsider: boolean;
}

/** As many as a list of resources looks at. */
const maxListedServers = 16;

/** Compares rather than counts: several changes at once are one, and what was changed back is none. */
export class FollowedResources implements ChangeFeed {
  readonly tenants: readonly string[];
  readonly position = "";
  readonly frame: ResourceSubject["frame"];
  readonly #interest: ResourceSubject;
  readonly #tenantOf: (name: string) => FollowedTenant;
  /** By URI, and by tenant for what is listed. */
  readonly #marks = new Map<string, string>();

  constructor(interest: ResourceSubject, tenantOf: (name: string) => FollowedTenant) {
    this.#interest = interest;
    this.#tenantOf = tenantOf;
    this.frame = interest.frame;
    this.tenants = [...new Set([...interest.resources.map(({ tenant }) => tenant), ...interest.lists])];
  }

  /** Before the reader is told that it listens: from then on nothing is missed. */
  async snapshot(): Promise<void> {
    await Promise.all(this.tenants.map((tenant) => this.next(tenant)));
  }

  async next(name: string) {
    const tenant = this.#tenantOf(name);
    const events: StreamEvent[] = [];
    for (const resource of this.#interest.resources) {
      if (resource.tenant !== name || !this.#differs(resource.uri, await markOf(tenant, resource))) continue;
      events.push(this.#event("notifications/resources/updated", { uri: resource.uri }));
    }
    if (this.#interest.lists.includes(name) && this.#differs(name, await listMarkOf(tenant))) {
      events.push(this.#event("notifications/resources/list_changed", {}));
    }
    return { events, more: false };
  }

  #differs(key: string, mark: string): boolean {
    const before = this.#marks.get(key);
    this.#marks.set(key, mark);
    return mark !== before;
  }

  #event(method: string, params: object): StreamEvent {
    return { name: "message", data: { jsonrpc: "2.0", method, params: { ...params, _meta: this.#interest.meta } } };
  }
}

/** What a resource is made from, as one comparable text. */
async function markOf(tenant: FollowedTenant, { server, index, outsider }: FollowedResource): Promise<string> {
  if (index || server === undefined) {
    const { stamp, advertise, server: seen } = await tenant.indexState(server);
    return JSON.stringify([stamp, advertise ?? null, seen?.advertise ?? null]);
  }
  return headMark((await tenant.head(server)).head, outsider);
}

/** To someone outside its tenant a server that is not public is gone, and no more is told of it. */
function headMark(head: Head | undefined, outsider: boolean): string {
  if (head === undefined || head.deleted || (outsider && head.visibility !== "public")) return "gone";
  return `${head.digest ?? "none"}.${head.overlay}`;
}

/** What of a tenant is in a list of resources: the indexes it advertises, and what each costs. */
async function listMarkOf(tenant: FollowedTenant): Promise<string> {
  const [{ current }, advertised] = await Promise.all([tenant.advertise(), tenant.advertisedServers(maxListedServers)]);
  return JSON.stringify([current?.settings ?? null, advertised]);
}
