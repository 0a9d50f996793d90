import type { TenantKey } from "../kernel/names.ts";
import type { ChangeFeed, ChangesTenant } from "./contract.ts";

/** Entries per fetch: limits what the Worker holds in memory for a reader that is far behind. */
const pageLength = 200;

/** The whole log of one tenant. The id of an event is the sequence number of its entry. */
export class FollowedLog implements ChangeFeed {
  readonly tenants: readonly [TenantKey];
  readonly #tenantOf: (key: TenantKey) => Pick<ChangesTenant, "changes">;
  #since: number;

  constructor(
    { tenant, since }: { tenant: TenantKey; since: number },
    tenantOf: (key: TenantKey) => Pick<ChangesTenant, "changes">,
  ) {
    this.tenants = [tenant];
    this.#since = since;
    this.#tenantOf = tenantOf;
  }

  get position(): string {
    return String(this.#since);
  }

  async next(tenant: TenantKey) {
    const { changes, head } = await this.#tenantOf(tenant).changes(this.#since, pageLength);
    this.#since = changes.at(-1)?.sequence ?? this.#since;
    const events = changes.map((change) => ({ id: String(change.sequence), name: "change", data: change }));
    return { events, more: this.#since < (head?.sequence ?? 0) };
  }
}
