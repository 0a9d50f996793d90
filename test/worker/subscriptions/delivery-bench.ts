import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { namedTenant } from "../../../src/kernel/names.ts";
import type { NewChange } from "../../../src/manifest/diff.ts";
import { setNextAlarm } from "../../../src/objects/tenant/outbox.ts";
import type { AddressPolicy } from "../../../src/outbound/address.ts";
import { recordChanges } from "../../../src/registry/sql/change-log.ts";
import { Deliveries } from "../../../src/subscriptions/deliveries.ts";
import type { ChangeFilters, SubscriptionChange } from "../../../src/subscriptions/schema.ts";
import { enqueueDeliveries } from "../../../src/subscriptions/sql/queue.ts";
import { Subscriptions } from "../../../src/subscriptions/subscriptions.ts";
import { capabilities, drained, Registry, token, tools } from "../support/registry.ts";
import { Receiver } from "./receiver.ts";

export const registry = new Registry();
/** Far ahead of the clock that the tenant's own object goes by, which therefore finds nothing due. */
const start = Date.parse("2040-01-01T00:00:00Z");
export let tenant: string;
export let member: string;
let round = 0;

/** Makes a new tenant, so that tests do not see each other. */
export async function newTenant(): Promise<void> {
  tenant = `telling-${++round}`;
  member = await token({ tenants: [tenant] });
}

export const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
export const publish = (...names: string[]) =>
  registry.send("PUT", capabilities(tenant, "s"), { token: member, body: tools(...names) });

const tester = () => ({ ...namedTenant(tenant), subject: "tester" });

export function changed(name = "add", more: Partial<NewChange> = {}): NewChange {
  return { kind: "tool", key: name, classification: "additive", reasons: [], ...more };
}

/** The deliveries of a tenant, with a receiver, a clock and a die that the test holds. */
export class Bench {
  readonly receiver = new Receiver();
  readonly policy: AddressPolicy = { ownHosts: [] };
  readonly deliveries: Deliveries;
  readonly subscriptions: Subscriptions;
  readonly storage: DurableObjectStorage;
  readonly sql: SqlStorage;
  now = start;
  random = 0;

  constructor(storage: DurableObjectStorage, deadlineMs?: number) {
    this.storage = storage;
    this.sql = storage.sql;
    this.deliveries = this.another(deadlineMs);
    this.subscriptions = new Subscriptions({
      storage,
      // Changes start no delivery by themselves: each test says when deliveries run.
      deliveries: { drain: async () => {}, forget: () => {}, test: (id) => this.deliveries.test(id) },
      policyFor: () => this.policy,
      now: () => this.now,
      isReady: () => true,
      admit: () => undefined,
      reschedule: async () => {},
    });
  }

  /** As after a restart: nothing is remembered but what is stored. */
  another(deadlineMs = 100): Deliveries {
    return new Deliveries(this.storage, {
      fetch: this.receiver.fetch,
      policyFor: () => this.policy,
      now: () => this.now,
      random: () => this.random,
      reschedule: () => setNextAlarm(this.storage, this.now),
      deadlineMs,
    });
  }

  subscribe(url = "https://receiver.example/in", filters: ChangeFilters = {}): { id: string; secret: string } {
    const request = { url, filters, ownHost: "registry.example" };
    const created = this.subscriptions.create(tester(), request);
    if (!created.ok) throw new Error(created.error.message);
    return created.value;
  }

  change(id: string, change: SubscriptionChange): void {
    const changed = this.subscriptions.change(tester(), id, change, "");
    if (!changed.ok) throw new Error(changed.error.message);
  }

  remove(id: string): void {
    const removed = this.subscriptions.remove(tester(), id);
    if (!removed.ok) throw new Error(removed.error.message);
  }

  /** A write of the tenant, with all that its transaction puts down. */
  write(changes: NewChange[] = [changed()], keep = 100_000): number {
    return this.storage.transactionSync(() => {
      const { generation } = recordChanges(this.sql, "s", new Date(this.now).toISOString(), changes, keep);
      enqueueDeliveries(this.sql, "s", this.now);
      return generation;
    });
  }

  show(id: string) {
    const shown = this.subscriptions.show(id);
    if (!shown.ok) throw new Error(shown.error.message);
    return shown.value;
  }

  due(id: string): number[] {
    const rows = this.sql.exec<{ due_at: number }>(
      "SELECT due_at FROM delivery WHERE subscription = ? ORDER BY generation",
      id,
    );
    return rows.toArray().map(({ due_at }) => due_at);
  }
}

export async function onBench(run: (bench: Bench) => Promise<void>): Promise<void> {
  await publish("first");
  await drained(tenant);
  await runInDurableObject(stub(), async (_, { storage }) => {
    // So that the alarm is about deliveries alone.
    storage.sql.exec("DELETE FROM outbox");
    await run(new Bench(storage));
  });
}
