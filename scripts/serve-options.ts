import { Settings } from "../src/config.ts";
import { didYouMean, UsageError } from "./command.ts";
import { defaultDataDir } from "./data-dir.ts";
import type { EmbeddedOptions } from "./embedded.ts";
import { parsePort } from "./port.ts";

/** The command line options that `npm start` and `npm run serve` share. */
export const serveOptions = {
  port: { type: "string", default: "8787" },
  host: { type: "string", default: "127.0.0.1" },
  data: { type: "string", default: defaultDataDir },
  "no-demo": { type: "boolean", default: false },
  var: { type: "string", multiple: true, default: [] as string[] },
} as const;

export const serveOptionsHelp = `
  --port P           port to listen on; 0 for any free one (default 8787)
  --host H           address to listen on (default 127.0.0.1: this machine only)
  --data DIR         where KV, objects and the secret are kept (default ${defaultDataDir})
  --no-demo          do not load the demo catalogue into a new data directory
  --var NAME=VALUE   replace a setting of wrangler.toml, for example --var READ_LIMIT=100000/200000; may be repeated
  --help             this text`;

interface ServeValues {
  port: string;
  host: string;
  data: string;
  var: string[];
}

export function parseServeOptions(values: ServeValues): EmbeddedOptions {
  return { port: parsePort(values.port), host: values.host, data: values.data, vars: parseVars(values.var) };
}

function parseVars(assignments: string[]): Record<string, string> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(assignment) ?? [];
      if (name === undefined || value === undefined) {
        throw new UsageError(`--var takes NAME=VALUE, not "${assignment}".`);
      }
      const known = Object.keys(Settings.shape);
      if (!known.includes(name)) {
        const meant = didYouMean(name, known) || `; known: ${known.join(", ")}`;
        throw new UsageError(`Unknown setting ${name}${meant}`);
      }
      // The data directory has the secret that its tokens are signed with.
      if (name === "JWT_SECRET")
        throw new UsageError("JWT_SECRET is kept in the data directory; choose that with --data.");
      return [name, value];
    }),
  );
}
