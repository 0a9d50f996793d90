import { runCommand } from "./command.ts";
import { demoLoader, loadDemoOnce } from "./demo.ts";
import { parseServeOptions, serveOptions, serveOptionsHelp } from "./serve-options.ts";
import { serveUntilStopped } from "./serving.ts";

const help = `
Usage: npm run serve -- [--port P] [--host H] [--data DIR] [--no-demo] [--var NAME=VALUE ...]

Runs the registry embedded: the Worker as deployed, its data in a directory, no Cloudflare account. Prints one line,
"ready http://…", once it answers; what the Worker logs goes to stderr. Ctrl-C stops it and keeps the data.
${serveOptionsHelp}
`;

await runCommand({ help, options: serveOptions }, (values) =>
  serveUntilStopped({ ...parseServeOptions(values), quietSubject: demoLoader }, async (server) => {
    if (!values["no-demo"]) await loadDemoOnce(server);
    console.log(`ready ${server.url}`);
  }),
);
