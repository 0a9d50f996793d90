import { countedStub } from "../../storage/counted.ts";
import type { Operations } from "../../storage/operations.ts";
import type { TenantObject } from "./tenant-object.ts";

/** The verbs of a tenant, as its callers see them: plain data in and out, results instead of exceptions. */
export type Tenant = Pick<
  TenantObject,
  | "publish"
  | "createServer"
  | "replaceConfig"
  | "deleteServer"
  | "switchItems"
  | "publishVersion"
  | "changeStatus"
  | "versions"
  | "head"
  | "server"
  | "servers"
  | "body"
  | "revisions"
  | "revision"
  | "capability"
  | "find"
  | "cards"
  | "indexState"
  | "indexServers"
  | "indexItems"
  | "declared"
  | "advertise"
  | "advertisedServers"
  | "setAdvertise"
  | "changes"
  | "changesOf"
  | "compare"
  | "watch"
  | "unwatch"
  | "registerHook"
  | "hooks"
  | "hook"
  | "changeHook"
  | "rotateHook"
  | "removeHook"
  | "hookGate"
  | "receiveEvent"
  | "refuseEvent"
  | "refresh"
  | "sources"
  | "createSubscription"
  | "subscriptions"
  | "subscription"
  | "changeSubscription"
  | "rotateSubscription"
  | "testSubscription"
  | "removeSubscription"
>;

/** The object of a tenant. Asking an unknown tenant wakes an object that stores nothing. */
export function tenantOf(env: Pick<Env, "TENANTS">, name: string, operations: Operations): Tenant {
  return countedStub(env.TENANTS.get(env.TENANTS.idFromName(name)), operations) as unknown as Tenant;
}
