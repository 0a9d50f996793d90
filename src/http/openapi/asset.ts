/** Stands in the served documents where the deployment's own origin belongs. */
export const originPlaceholder = "https://origin.invalid";

/** Reads the OpenAPI document that is deployed with the Worker. */
export type OpenApiAsset = (format: "json" | "yaml") => Promise<string>;

/**
 * The document is far too large for the bundle, and few isolates are asked for it. The text is cached instead of its
 * promise, which would belong to the request that created it.
 */
export function createOpenApiAsset(assets: Pick<Fetcher, "fetch">): OpenApiAsset {
  const texts = new Map<string, string>();
  return async (format) => {
    const known = texts.get(format);
    if (known !== undefined) return known;
    // Only the path matters: the binding serves nothing but this deployment's own files.
    const response = await assets.fetch(`https://assets.invalid/openapi.${format}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`the OpenAPI document cannot be read: ${response.status}`);
    texts.set(format, text);
    return text;
  };
}
