import type { StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";

/** A pure function from a manifest and its overlay to the shape one consumer wants. */
export interface View {
  /** Part of every ETag: raise it with any change of what `render` writes. */
  version: string;
  contentType: string;
  /** The manifest is absent while a server has published nothing. Undefined where the server has no such view. */
  render(manifest: StoredManifest | undefined, head: Head): string | undefined;
}

/** A view that is plain JSON, without an envelope. */
export function jsonView(
  version: string,
  shape: (manifest: StoredManifest | undefined, head: Head) => object | undefined,
): View {
  return {
    version,
    contentType: "application/json; charset=utf-8",
    render(manifest, head) {
      const data = shape(manifest, head);
      return data === undefined ? undefined : JSON.stringify(data);
    },
  };
}
