import { extensionView } from "./extensions.ts";
import { decisionTreeView, generatorsView } from "./generators.ts";
import { operationsView } from "./operations.ts";
import { resourcesView } from "./resources.ts";
import { serverView } from "./server.ts";
import { toolsView } from "./tools.ts";
import type { View } from "./view.ts";

const known: Record<string, View> = {
  server: serverView,
  tools: toolsView,
  resources: resourcesView,
  generators: generatorsView,
  operations: operationsView,
  decision_tree: decisionTreeView,
};

/**
 * The view at `capabilities://{name}`. A manifest can declare more views: a list or map under a key of its own, such as
 * `validators`, is a view of that name. A view that a server does not have renders nothing.
 */
export function namedView(name: string): View {
  const view = Object.hasOwn(known, name) ? known[name] : undefined;
  return view ?? extensionView(name);
}
