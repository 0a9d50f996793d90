import { contextCapability } from "./context.ts";
import type { CustomCapability } from "./custom-capability.ts";

/** Every custom capability there is. */
export const customCapabilities: readonly CustomCapability[] = [contextCapability];
