import { indexOperations } from "./capability-index/operations.ts";
import { catalogOperations } from "./catalog/operations.ts";
import { changesOperations } from "./changes/operations.ts";
import { directoryOperations } from "./directory/operations.ts";
import { flagsOperations } from "./flags/operations.ts";
import { hooksOperations } from "./hooks/operations.ts";
import { mcpOperations } from "./mcp/operations.ts";
import { officialOperations } from "./official/operations.ts";
import { registryOperations } from "./registry/operations.ts";
import { searchOperations } from "./search/operations.ts";
import { serviceOperations } from "./service/operations.ts";
import { sessionsOperations } from "./sessions/operations.ts";
import { sourcesOperations } from "./sources/operations.ts";
import { subscriptionsOperations } from "./subscriptions/operations.ts";

/** Every operation of the HTTP API. */
export const operations = [
  ...searchOperations,
  ...catalogOperations,
  ...indexOperations,
  ...registryOperations,
  ...flagsOperations,
  ...sourcesOperations,
  ...hooksOperations,
  ...subscriptionsOperations,
  ...changesOperations,
  ...sessionsOperations,
  ...mcpOperations,
  ...officialOperations,
  ...serviceOperations,
  ...directoryOperations,
];
