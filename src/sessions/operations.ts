import { negotiateOperations } from "./operations/negotiate.ts";
import { sessionOperations } from "./operations/session.ts";

export const sessionsOperations = [...negotiateOperations, ...sessionOperations];
