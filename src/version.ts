import manifest from "../package.json" with { type: "json" };

export const service = "rollcall";
export const version: string = manifest.version;
