import { Settings } from "../../src/config.ts";
import { generated, table } from "./document.ts";

/** `vars` are those of wrangler.toml, which has every setting that is no secret, with its default. */
export function settingsPage(vars: Record<string, string>): string {
  const rows = Object.entries(Settings.shape).map(([name, schema]) => {
    const value = vars[name];
    const kind = value === undefined ? "secret" : "variable";
    return [`\`${name}\``, kind, value === undefined || value === "" ? "–" : `\`${value}\``, schema.description ?? ""];
  });
  return `${generated}

# Settings

Environment variables of the Worker. Variables are in \`wrangler.toml\`; a secret is set with \`npx wrangler secret put NAME\`. On this
machine \`npm start -- --var NAME=VALUE\` sets either. A value that is not valid is named at the start, and nothing falls back to a
default in silence. [Deploying](../how-to/deploying.md) says which ones a deployment needs.

${table(["name", "kind", "default", "meaning"], rows)}
`;
}
