import { capabilitiesOperations } from "./operations/capabilities.ts";
import { capabilityOperations } from "./operations/capability.ts";
import { configsOperations } from "./operations/configs.ts";
import { generatorsOperations } from "./operations/generators.ts";
import { importsOperations } from "./operations/imports.ts";
import { revisionsOperations } from "./operations/revisions.ts";
import { viewsOperations } from "./operations/views.ts";

export const registryOperations = [
  ...configsOperations,
  ...capabilitiesOperations,
  ...viewsOperations,
  ...revisionsOperations,
  ...generatorsOperations,
  ...importsOperations,
  ...capabilityOperations,
];
