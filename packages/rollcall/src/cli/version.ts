import manifest from "../../package.json" with { type: "json" };

/** Of the package; a test compares it with the Worker's. */
export const version: string = manifest.version;
