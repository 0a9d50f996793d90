import { unstable_getDurableObjectClassNameToUseSQLiteMap, unstable_readConfig } from "wrangler";
import { projectPath } from "./project.ts";
import type { ConvertedConfig } from "./worker-config.ts";

/** Wrangler's own types for these two are in a package it does not ship. */
type KvBinding = { binding: string };
type ObjectBinding = { name: string; class_name: string };

// Prints what the embedded server needs to know of wrangler.toml. A process of its own: Wrangler takes a second to load
// and more memory than the server it is asked for.
const config = unstable_readConfig({ config: projectPath("wrangler.toml") }, { hideWarnings: true });
const usesSqlite = unstable_getDurableObjectClassNameToUseSQLiteMap(config.migrations);
const { binding, directory } = config.assets ?? {};
const converted: ConvertedConfig = {
  name: config.name ?? "rollcall",
  vars: Object.fromEntries(Object.entries(config.vars).map(([name, value]) => [name, String(value)])),
  compatibilityDate: config.compatibility_date ?? "",
  compatibilityFlags: config.compatibility_flags,
  // Namespaces get their id on first deploy; here the binding's name serves.
  kvNamespaces: config.kv_namespaces.map((namespace: KvBinding) => namespace.binding),
  durableObjects: Object.fromEntries(
    config.durable_objects.bindings.map(({ name, class_name }: ObjectBinding) => [
      name,
      { className: class_name, useSQLite: usesSqlite.get(class_name) ?? false },
    ]),
  ),
  ...(binding === undefined || directory === undefined ? {} : { assets: { binding, directory } }),
};
console.log(JSON.stringify(converted));
