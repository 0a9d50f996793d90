import { relative } from "node:path";
import { runCommand } from "./command.ts";
import { loadDemoOnce } from "./demo.ts";
import { parseServeOptions, serveOptions, serveOptionsHelp } from "./serve-options.ts";
import { serveUntilStopped } from "./serving.ts";
import { welcomeText } from "./things-to-try.ts";

const help = `
Usage: npm start [-- [--port P] [--host H] [--data DIR] [--no-demo] [--admin] [--var NAME=VALUE ...]]

Builds and runs the registry on this machine, makes its secret and loads a demo catalogue the first time, and prints the
URL, a token and three commands to try. Ctrl-C stops it and keeps the data.
${serveOptionsHelp}
  --admin            the printed token may also do what concerns the whole registry
`;

const options = { ...serveOptions, admin: { type: "boolean", default: false } } as const;

await runCommand({ help, options }, async (values) => {
  const onStep = (message: string) => console.log(message);
  const serving = { ...parseServeOptions(values), quiet: true, onStep };
  await serveUntilStopped(serving, async (server) => {
    if (!values["no-demo"]) await loadDemoOnce(server, () => onStep("Loading the demo catalogue …"));
    const { url, vars, data } = server;
    const place = relative(process.cwd(), data.path) || ".";
    const about = `data in ${place.startsWith("..") ? data.path : place}; Ctrl-C stops it and keeps the data`;
    const registry = { url, vars, secret: data.secret.value };
    console.log(await welcomeText(registry, { about, tokenCommand: "npm run token", admin: values.admin }));
  });
  console.log(`\nStopped. The data is in ${serving.data}; npm start picks it up again.`);
});
