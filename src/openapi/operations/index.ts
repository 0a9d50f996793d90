import { findingOperations } from "./finding.ts";
import { mcpOperations } from "./mcp.ts";
import { officialOperations } from "./official.ts";
import type { Operation } from "./operation.ts";
import { serversOperations } from "./servers.ts";
import { serviceOperations } from "./service.ts";
import { tellingOperations } from "./telling.ts";

/** Every path and method there is. */
export const operations: Record<string, Record<string, Operation>> = {
  ...officialOperations("/v0.1", ""),
  ...officialOperations("/v0", "V0"),
  ...serviceOperations,
  ...findingOperations,
  ...serversOperations,
  ...tellingOperations,
  ...mcpOperations,
};
