import type { Tenant } from "../objects/contract.ts"; // stands in until the contract is written out
import type { RegistryDeps, RegistryTenant } from "../registry/deps.ts";
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
