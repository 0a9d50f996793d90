import type { Tenant } from "../objects/contract.ts";
import type { RegistryDeps, RegistryTenant } from "../registry/deps.ts";

// stands in until the contract is written out

export interface SubscriptionsDeps extends RegistryDeps {
  tenant(
    name: string,
  ): RegistryTenant &
    Pick<
      Tenant,
      | "createSubscription"
      | "subscriptions"
      | "subscription"
      | "changeSubscription"
      | "rotateSubscription"
      | "testSubscription"
      | "removeSubscription"
    >;
}
