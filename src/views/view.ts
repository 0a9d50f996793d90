import type { Head } from "../domain/head.ts";
import type { StoredManifest } from "../domain/stored.ts";

/** A pure function from a manifest and its overlay to the shape one consumer wants. */
export interface View {
  /** Part of every ETag: raise it with any change of what `render` writes. */
  version: string;
  contentType: string;
  /** The manifest is absent while a server has published nothing. */
  render(manifest: StoredManifest | undefined, head: Head): string;
}
