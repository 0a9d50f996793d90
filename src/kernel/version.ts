import manifest from "../../package.json" with { type: "json" };

/** As in wrangler.toml, which the Worker cannot read; a test holds the two together. */
export const compatibilityDate = "2026-07-30";

export const service = "rollcall";
export const version: string = manifest.version;
