import manifest from "../../package.json" with { type: "json" };

/** Same as in wrangler.toml, which the Worker cannot read; a test compares the two. */
export const compatibilityDate = "2026-07-30";

export const service = "rollcall";
export const version: string = manifest.version;
