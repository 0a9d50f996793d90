import { publishOperations } from "./operations/publish.ts";
import { serviceOperations } from "./operations/service.ts";
import { statusOperations } from "./operations/status.ts";
import { versionsOperations } from "./operations/versions.ts";

export const officialOperations = [
  ...versionsOperations,
  ...publishOperations,
  ...statusOperations,
  ...serviceOperations,
];
