import { itemRecords, serverRecord } from "../record.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { missingView } from "./extensions.ts";
import { object, text, versionOf } from "./fields.ts";
import type { OperationsView } from "./schema.ts";
import { toolOf } from "./tools.ts";
import { jsonView, type View } from "./view.ts";

/** `capabilities://operations`: the operations of an API alone, with their method and path if it is an HTTP API. */
export const operationsView: View = {
  ...jsonView("o1", (manifest, head): OperationsView | undefined => {
    const version = versionOf(manifest);
    const recordOf = itemRecords(head);
    const shown = enabledCapabilities(manifest, head);
    const operations = shown
      .filter(({ kind }) => kind === "operation")
      .map((item) => {
        const { declared } = item;
        const { endpoint_method, endpoint_path } = object(object(declared.metadata).openapi);
        const place = { method: text(endpoint_method) || undefined, path: text(endpoint_path) || undefined };
        const { name, ...operation } = toolOf(declared, version);
        return { name, ...place, ...operation, registry: recordOf(item) };
      });
    if (operations.length === 0) return undefined;
    const metadata = { total_count: operations.length, version };
    return { operations, metadata, registry: serverRecord(head, tokensOf(shown)) };
  }),
  missing: missingView("operations"),
};
