import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { DirectoryObject } from "./directory/directory-object.ts";
import type { TenantObject } from "./tenant/tenant-object.ts";

/** The verbs of a tenant, as its callers see them: plain data in and out, results instead of exceptions. */
export type Tenant = Pick<
  TenantObject,
  | "publishVersion"
  | "changeStatus"
  | "versions"
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
  | "createSubscription"
  | "subscriptions"
  | "subscription"
  | "changeSubscription"
  | "rotateSubscription"
  | "testSubscription"
  | "removeSubscription"
  | "resendToDirectory"
> &
  RegistryTenant &
  SearchTenant;

/** The verbs of the directory, as its callers see them. */
export type Directory = Pick<
  DirectoryObject,
  "catalog" | "claimRemotes" | "listVersions" | "releaseClaims" | "update" | "versionNamed" | "versionsOf"
> &
  RegistryDirectory &
  SearchDirectory;
