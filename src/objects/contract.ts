import type { IndexTenant } from "../capability-index/contract.ts";
import type { CatalogDirectory } from "../catalog/contract.ts";
import type { ChangesTenant, Streams } from "../changes/contract.ts";
import type { RebuildDirectory, ResendingTenant, SegmentDirectory, TriedDirectory } from "../directory/contract.ts";
import type { FlagsTenant } from "../flags/contract.ts";
import type { HooksTenant } from "../hooks/contract.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { OfficialDirectory, OfficialTenant } from "../official/contract.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { SessionsTenant } from "../sessions/contract.ts";
import type { SubscriptionsTenant } from "../subscriptions/contract.ts";
import type { DirectoryChange, DirectoryUpdate } from "./directory/contract.ts";

/** RPC methods of a tenant's object. Arguments and results are plain data; failures are results, not exceptions. */
export interface Tenant
  extends RegistryTenant,
    SearchTenant,
    IndexTenant,
    ChangesTenant,
    FlagsTenant,
    SessionsTenant,
    OfficialTenant,
    HooksTenant,
    SubscriptionsTenant,
    ResendingTenant {}

/** RPC methods of the directory. */
export interface Directory
  extends RegistryDirectory,
    SearchDirectory,
    CatalogDirectory,
    OfficialDirectory,
    SegmentDirectory,
    RebuildDirectory,
    TriedDirectory {
  /** Returns for each change whether it was accepted: false if the directory has a newer generation of the server. */
  update(changes: readonly DirectoryChange[]): Promise<DirectoryUpdate>;
}

/** RPC methods of a caller's stream object. */
export interface StreamRpc extends Streams {
  /** Called by a tenant after a change. Returns without waiting for the Workers that hold the streams. */
  notify(tenant: TenantKey): Promise<void>;
}
