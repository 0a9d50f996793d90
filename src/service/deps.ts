import type { CatalogDeps } from "../catalog/deps.ts";
import type { McpDeps } from "../mcp/deps.ts";

export type ServiceDeps = Omit<CatalogDeps & McpDeps, "tenant" | "directory">;
