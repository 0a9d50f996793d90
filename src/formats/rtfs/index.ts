export { type RtfsCapability, type RtfsDocument, type RtfsFault, readRtfs, toolName } from "./capability.ts";
export { exportRtfs } from "./export-rtfs.ts";
export { importRtfs, rtfsSteps } from "./import-rtfs.ts";
export { type Flattened, flatten, type Migrated, migrate } from "./migrate.ts";
export { type Printed, printRtfs } from "./print.ts";
