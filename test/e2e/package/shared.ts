import { afterAll, beforeAll } from "vitest";
import { runCli, stopAll } from "../support/process.ts";
import { type RegistryProcess, startRegistry } from "../support/registry-process.ts";
import type { Installed } from "./installed.ts";

/** What all tests of a file use: one registry, one installed package. */
export interface Shared {
  readonly registry: RegistryProcess;
  readonly installed: Installed;
  /** A token for other tenants than the tutorial's. */
  token(...tenants: string[]): Promise<string>;
}

/** Starts a registry and installs the package before the tests of a file, and removes both after them. */
export function shareRegistry(install: () => Installed | Promise<Installed>): Shared {
  let registry: RegistryProcess;
  let installed: Installed;

  beforeAll(async () => {
    // Subscriptions and sources of the tests are on this machine.
    const starting = startRegistry("acme", { ALLOW_LOOPBACK_FETCH: "true" });
    installed = await install();
    registry = await starting;
  });

  afterAll(async () => {
    await stopAll();
    await registry?.remove();
    installed?.remove();
  });

  return {
    get registry() {
      return registry;
    },
    get installed() {
      return installed;
    },
    async token(...tenants) {
      const named = tenants.flatMap((tenant) => ["--tenant", tenant]);
      return (await runCli("token.ts", "--data", registry.data, ...named)).stdout.trim();
    },
  };
}
