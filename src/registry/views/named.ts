import { ManifestHeader } from "../../manifest/schema/manifest.ts";
import { serverRecord } from "../record.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { versionOf } from "./fields.ts";
import { decisionTreeView, generatorsView } from "./generators.ts";
import { resourcesView } from "./resources.ts";
import { serverView } from "./server.ts";
import { toolsView } from "./tools.ts";
import { jsonView, type View } from "./view.ts";

const known: Record<string, View> = {
  server: serverView,
  tools: toolsView,
  resources: resourcesView,
  generators: generatorsView,
  decision_tree: decisionTreeView,
};

export const viewNames = Object.keys(known);

const extensionName = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * The view at `capabilities://{name}`. A manifest can declare more views: a list or map under a key of its own, such as
 * `validators`, is a view of that name.
 */
export function namedView(name: string): View | undefined {
  const view = Object.hasOwn(known, name) ? known[name] : undefined;
  return view ?? (extensionName.test(name) ? extensionView(name) : undefined);
}

function extensionView(name: string): View {
  return jsonView(`x2.${name}`, (manifest, head) => {
    const value = Object.hasOwn(ManifestHeader.shape, name) ? undefined : manifest?.header[name];
    if (typeof value !== "object" || value === null) return undefined;
    const total_count = Array.isArray(value) ? value.length : Object.keys(value).length;
    const registry = serverRecord(head, tokensOf(enabledCapabilities(manifest, head)));
    return { [name]: value, metadata: { total_count, version: versionOf(manifest) }, registry };
  });
}
