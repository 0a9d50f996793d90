/** Paths of the discovery documents. */
export const serverCardPath = "/mcp/server-card";
export const aiCatalogPath = "/.well-known/ai-catalog.json";
export const resourceMetadataPath = "/.well-known/oauth-protected-resource";

/** Link header (RFC 8288) with the relations of RFC 8631: API description, health, and metadata for machines. */
export const discoveryLinks = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</healthz>; rel="status"',
  `<${aiCatalogPath}>; rel="service-meta"; type="application/json"`,
  `<${resourceMetadataPath}>; rel="service-meta"; type="application/json"`,
].join(", ");
