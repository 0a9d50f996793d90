import type { CatalogDeps } from "../catalog/deps.ts";
import type { MemoryBudget } from "../kernel/memory-budget.ts";
import type { McpDeps } from "../mcp/deps.ts";

export interface ServiceDeps extends Omit<CatalogDeps & McpDeps, "tenant" | "directory"> {
  memory: MemoryBudget;
  /** Writes something small to the storage of an object. */
  tryStorage(): Promise<void>;
  /** The published JSON Schemas, by name, as JSON text. */
  publishedSchemas(): Promise<string>;
  /** Text of /llms.txt. */
  guideForModels(): Promise<string>;
}
