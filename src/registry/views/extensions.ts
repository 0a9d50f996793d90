import { nearest } from "../../kernel/nearest.ts";
import { ManifestHeader } from "../../manifest/schema/manifest.ts";
import type { StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";
import { serverRecord } from "../record.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { versionOf } from "./fields.ts";
import { jsonView, type View } from "./view.ts";

/** Views that every server has. */
export const standardViews = ["server", "tools", "resources", "generators"] as const;

/** Names of views that are the registry's: no key of a manifest becomes a view of that name. */
const reserved: readonly string[] = [...standardViews, "operations", "decision_tree"];

const extensionName = /^[a-z][a-z0-9_-]{0,63}$/;

/** The views that a server has, without the deprecated one. Its own follow in order of name. */
export function viewsOf(manifest: StoredManifest | undefined, head: Head): string[] {
  const hasOperations = enabledCapabilities(manifest, head).some(({ kind }) => kind === "operation");
  const own = Object.keys(manifest?.header ?? {}).filter((name) => extensionOf(manifest, name) !== undefined);
  return [...standardViews, ...(hasOperations ? ["operations"] : []), ...own.sort()];
}

/** A view that the manifest declares: a list or map under a key of its own, such as `validators`. */
export function extensionView(name: string): View {
  const view = jsonView(`x2.${extensionName.test(name) ? name : ""}`, (manifest, head) => {
    const value = extensionOf(manifest, name);
    if (value === undefined) return undefined;
    const total_count = Array.isArray(value) ? value.length : Object.keys(value).length;
    const registry = serverRecord(head, tokensOf(enabledCapabilities(manifest, head)));
    return { [name]: value, metadata: { total_count, version: versionOf(manifest) }, registry };
  });
  return { ...view, missing: missingView(name) };
}

/** Names the views that there are, and the one that was probably meant. */
export function missingView(name: string): NonNullable<View["missing"]> {
  return (manifest, head) => {
    const views = viewsOf(manifest, head);
    const wanted = name.slice(0, 128).toWellFormed();
    const meant = nearest(wanted, views);
    const hint = meant === undefined ? "" : `; was ${meant} meant?`;
    return `There is no view ${JSON.stringify(wanted)}; there are ${views.join(", ")}${hint}`;
  };
}

function extensionOf(manifest: StoredManifest | undefined, name: string): object | undefined {
  if (!extensionName.test(name) || reserved.includes(name) || Object.hasOwn(ManifestHeader.shape, name))
    return undefined;
  const header = manifest?.header ?? {};
  const value = Object.hasOwn(header, name) ? header[name] : undefined;
  return typeof value === "object" && value !== null ? value : undefined;
}
