import { enabledCapabilities } from "./enabled.ts";
import { missingView } from "./extensions.ts";
import { object, text, versionOf } from "./fields.ts";
import type { OperationsView } from "./schema.ts";
import { toolOf } from "./tools.ts";
import { jsonView, type View } from "./view.ts";

/** `capabilities://operations`: the operations of an API alone, with their method and path if it is an HTTP API. */
export const operationsView: View = {
  ...jsonView("o1", (manifest, head): OperationsView | undefined => {
    const version = versionOf(manifest);
    const operations = enabledCapabilities(manifest, head)
      .filter(({ kind }) => kind === "operation")
      .map(({ declared }) => {
        const { endpoint_method, endpoint_path } = object(object(declared.metadata).openapi);
        const place = { method: text(endpoint_method) || undefined, path: text(endpoint_path) || undefined };
        const { name, ...operation } = toolOf(declared, version);
        return { name, ...place, ...operation };
      });
    if (operations.length === 0) return undefined;
    return { operations, metadata: { total_count: operations.length, version } };
  }),
  missing: missingView("operations"),
};
