import type { IndexTenant } from "../capability-index/contract.ts";
import type { CatalogDirectory } from "../catalog/contract.ts";
import type { ChangesTenant, ChosenSubject, LogSubject, Streams } from "../changes/contract.ts";
import type { HooksTenant } from "../hooks/contract.ts";
import type { ResourceSubject } from "../mcp/resources/follow-resources.ts";
import type { OfficialDirectory, OfficialTenant } from "../official/contract.ts";
import type { RegistryDirectory, RegistryTenant } from "../registry/contract.ts";
import type { SearchDirectory, SearchTenant } from "../search/contract.ts";
import type { SessionsTenant } from "../sessions/contract.ts";
import type { SubscriptionsTenant } from "../subscriptions/contract.ts";
import type { DirectoryChange } from "./directory/contract.ts";

/** The RPC methods of a tenant's object: plain data in and out, results instead of exceptions. */
export interface Tenant
  extends RegistryTenant,
    SearchTenant,
    IndexTenant,
    ChangesTenant,
    SessionsTenant,
    OfficialTenant,
    HooksTenant,
    SubscriptionsTenant {
  /** Sends the directory every server again, because it lost some of what it had. */
  resendToDirectory(): Promise<void>;
}

/** The RPC methods of the directory. */
export interface Directory extends RegistryDirectory, SearchDirectory, CatalogDirectory, OfficialDirectory {
  /** Says of each change whether it was taken: one that is older than what is known here is not. */
  update(changes: readonly DirectoryChange[]): Promise<boolean[]>;
}

/** Everything that a live stream can follow. */
export type StreamSubject = LogSubject | ChosenSubject | ResourceSubject;

/** The RPC methods of a caller's streams. */
export interface StreamRpc extends Streams<StreamSubject> {
  /** A tenant says that it changed. It is not kept waiting for readers. */
  notify(tenant: string): Promise<void>;
}
