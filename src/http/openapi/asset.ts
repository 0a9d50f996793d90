/** Stands in the served documents where the deployment's own origin belongs. */
export const originPlaceholder = "https://origin.invalid";

/** Reads the OpenAPI document that is deployed with the Worker. */
export type OpenApiAsset = (format: "json" | "yaml") => Promise<string>;

/**
 * Reads generated texts that are far too large for the bundle, and that few isolates are asked for. The text is cached
 * instead of its promise, which would belong to the request that created it.
 */
export function createAssetReader(assets: Pick<Fetcher, "fetch">): (file: string) => Promise<string> {
  const texts = new Map<string, string>();
  return async (file) => {
    const known = texts.get(file);
    if (known !== undefined) return known;
    // Only the path matters: the binding serves nothing but this deployment's own files.
    const response = await assets.fetch(`https://assets.invalid/${file}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`the asset ${file} cannot be read: ${response.status}`);
    texts.set(file, text);
    return text;
  };
}
