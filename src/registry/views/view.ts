import type { StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";

/** A pure function from a manifest and its head to the shape that one consumer needs. */
export interface View {
  /** Part of every ETag: change it whenever the output of `render` changes. */
  version: string;
  contentType: string;
  /** `manifest` is undefined if the server has published nothing. Returns undefined if the server has no such view. */
  render(manifest: StoredManifest | undefined, head: Head): string | undefined;
  /** For a view that not every server has: says that it is not there, and what there is. */
  missing?(manifest: StoredManifest | undefined, head: Head): string;
}

/** A view that is plain JSON without an envelope. */
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
