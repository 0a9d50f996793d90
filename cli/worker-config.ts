import type { WorkerOptions } from "miniflare";
import { projectPath } from "./project.ts";

/** Wrangler's own types for these two are in a package it does not ship. */
type KvBinding = { binding: string };
type ObjectBinding = { name: string; class_name: string };

export interface WorkerConfig {
  name: string;
  vars: Record<string, string>;
  /** What Miniflare needs to give the Worker the bindings it would have when deployed, but for the vars. */
  bindings: WorkerOptions;
}

/**
 * Reads wrangler.toml. Wrangler's own conversion to Miniflare options is not used because it also reads .dev.vars,
 * which belong to `npm run dev` alone.
 */
export async function readWorkerConfig(): Promise<WorkerConfig> {
  // Loaded when needed: it takes a second, and no mistake on the command line should wait for it.
  const wrangler = await import("wrangler");
  const config = wrangler.unstable_readConfig({ config: projectPath("wrangler.toml") }, { hideWarnings: true });
  const usesSqlite = wrangler.unstable_getDurableObjectClassNameToUseSQLiteMap(config.migrations);
  return {
    name: config.name ?? "rollcall",
    vars: Object.fromEntries(Object.entries(config.vars).map(([name, value]) => [name, String(value)])),
    bindings: {
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: config.compatibility_flags,
      // Namespaces get their id on first deploy; here the binding's name serves.
      kvNamespaces: Object.fromEntries(config.kv_namespaces.map(({ binding }: KvBinding) => [binding, binding])),
      // The files themselves: what a deployment serves them with is not needed to read them.
      serviceBindings: assetsOf(config.assets),
      durableObjects: Object.fromEntries(
        config.durable_objects.bindings.map(({ name, class_name }: ObjectBinding) => [
          name,
          { className: class_name, useSQLite: usesSqlite.get(class_name) ?? false },
        ]),
      ),
    } as WorkerOptions,
  };
}

function assetsOf(assets: { directory?: string; binding?: string } | undefined): WorkerOptions["serviceBindings"] {
  if (assets?.binding === undefined || assets.directory === undefined) return {};
  return { [assets.binding]: { disk: { path: projectPath(assets.directory), writable: false } } };
}
