import type { RegistryProcess } from "../support/registry-process.ts";
import type { Installed } from "./installed.ts";

/** What all tests of the package use. */
export interface Shared {
  readonly registry: RegistryProcess;
  readonly installed: Installed;
  /** A token for other tenants than the tutorial's. */
  token(...tenants: string[]): Promise<string>;
}
