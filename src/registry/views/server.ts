import type { StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";
import { itemRecords, serverRecord } from "../record.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { viewsOf } from "./extensions.ts";
import { nameOf, object, text, versionOf } from "./fields.ts";
import { families } from "./resources.ts";
import type { ServerView } from "./schema.ts";
import { isCallable } from "./tools.ts";
import { jsonView } from "./view.ts";

/** `capabilities://server`. */
export const serverView = jsonView("s3", serverDocument);

/** Counts match the other views. */
export function serverDocument(manifest: StoredManifest | undefined, head: Head): ServerView {
  const header = manifest?.header ?? {};
  const shown = enabledCapabilities(manifest, head);
  const concurrency = header.concurrencyLimits;
  return {
    name: nameOf(manifest, head),
    version: versionOf(manifest),
    mcp_version: text(header.mcpVersion) || text(header.protocolVersion),
    features: object(header.features) as Record<string, boolean>,
    limits: object(header.limits) as Record<string, number>,
    runtime: object(header.runtime) as Record<string, string>,
    concurrency_limits: concurrency === undefined ? undefined : (object(concurrency) as Record<string, number>),
    tool_count: shown.filter(isCallable).length,
    resource_count: Object.keys(families(shown, itemRecords(head))).length,
    generator_count: shown.filter(({ kind }) => kind === "generator").length,
    registry: serverRecord(head, tokensOf(shown)),
    views: viewsOf(manifest, head),
  };
}
