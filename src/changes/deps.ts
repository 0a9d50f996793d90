import type { Tenant } from "../objects/contract.ts";
import type { RegistryDeps, RegistryTenant } from "../registry/deps.ts";
import type { LogInterest, Streams, SubsetInterest } from "./contract.ts";

// stands in until the contract is written out

export type ChangesTenant = Pick<Tenant, "changes" | "changesOf" | "watch" | "unwatch">;
export interface ChangesDeps extends RegistryDeps {
  tenant(name: string): RegistryTenant & ChangesTenant;
  streams(subject: string): Streams<LogInterest | SubsetInterest>;
}
