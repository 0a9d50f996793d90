import { postMessage } from "./operations/message.ts";
import { resourcesOperations } from "./operations/resources.ts";
import { toolsOperations } from "./operations/tools.ts";
import { ownHandlers } from "./server/handlers.ts";

/** The endpoint of a deployed registry has its own handlers, without the additions of tests. */
export const mcpOperations = [postMessage({ handlersFor: ownHandlers }), ...toolsOperations, ...resourcesOperations];
