export { type RtfsCapability, type RtfsDocument, type RtfsFault, readRtfs } from "./capability.ts";
export { importRtfs } from "./import-rtfs.ts";
export { type Flattened, flatten, type Migrated, migrate } from "./migrate.ts";
export { type Printed, printRtfs } from "./print.ts";
