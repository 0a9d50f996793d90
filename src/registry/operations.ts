import { capabilitiesOperations } from "./operations/capabilities.ts";
import { viewsOperations } from "./operations/views.ts";

export const registryOperations = [...capabilitiesOperations, ...viewsOperations];
