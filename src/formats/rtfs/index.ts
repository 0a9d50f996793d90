export { type RtfsCapability, type RtfsDocument, type RtfsFault, readRtfs } from "./capability.ts";
export { type Flattened, flatten } from "./flat.ts";
export { importRtfs } from "./import.ts";
export { type Migrated, migrate } from "./migrate.ts";
export { type Printed, printRtfs } from "./printer.ts";
