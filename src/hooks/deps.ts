import type { Tenant } from "../objects/contract.ts";
import type { RegistryDeps, RegistryTenant } from "../registry/deps.ts";

// stands in until the contract is written out

export interface HooksDeps extends RegistryDeps {
  tenant(
    name: string,
  ): RegistryTenant &
    Pick<
      Tenant,
      | "registerHook"
      | "hooks"
      | "hook"
      | "changeHook"
      | "rotateHook"
      | "removeHook"
      | "hookGate"
      | "receiveEvent"
      | "refuseEvent"
    >;
}
