import type { IndexDeps, IndexTenant } from "../capability-index/deps.ts";
import type { LogInterest, Streams, SubsetInterest } from "../changes/contract.ts";
import type { ChangesTenant } from "../changes/deps.ts";
import type { RegistryTenant } from "../registry/deps.ts";
import type { SearchTenant } from "../search/contract.ts";
import type { SessionsDeps, SessionsTenant } from "../sessions/deps.ts";
import type { ResourceInterest } from "./resources/follow-resources.ts";

export interface McpDeps extends IndexDeps, SessionsDeps {
  streams(subject: string): Streams<LogInterest | SubsetInterest | ResourceInterest>;
  tenant(name: string): RegistryTenant & SearchTenant & ChangesTenant & IndexTenant & SessionsTenant;
}
