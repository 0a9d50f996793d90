import { descriptionOperations } from "./operations/description.ts";
import { discoveryOperations } from "./operations/discovery.ts";
import { statusOperations } from "./operations/status.ts";

export const serviceOperations = [...statusOperations, ...descriptionOperations, ...discoveryOperations];
