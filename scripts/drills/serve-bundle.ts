import { runCommand } from "../command.ts";
import { parseServeOptions, serveOptions } from "../serve-options.ts";
import { serveUntilStopped } from "../serving.ts";

const help = `
Usage: node scripts/drills/serve-bundle.ts --bundle FILE --data DIR [--var NAME=VALUE ...]

Serves a Worker that was built for a drill.
`;

const options = { ...serveOptions, port: { type: "string", default: "0" }, bundle: { type: "string" } } as const;

await runCommand({ help, options }, ({ bundle, ...values }) =>
  serveUntilStopped({ ...parseServeOptions(values), bundle, quiet: true }, async ({ url }) => {
    console.log(`ready ${url}`);
  }),
);
