import { runCommand } from "./command.ts";
import { demoTenant, loadDemoOnce } from "./demo.ts";
import type { EmbeddedServer } from "./embedded.ts";
import { defaultScope, maxTokenLifetime, mintToken } from "./mint-token.ts";
import { parseServeOptions, serveOptions, serveOptionsHelp } from "./serve-options.ts";
import { serveUntilStopped } from "./serving.ts";
import { thingsToTry } from "./things-to-try.ts";

const help = `
Usage: npm start [-- [--port P] [--host H] [--data DIR] [--no-demo] [--var NAME=VALUE ...]]

Builds and runs the registry on this machine, makes its secret and loads a demo catalogue the first time, and prints the
URL, a token and three commands to try. Ctrl-C stops it and keeps the data.
${serveOptionsHelp}
`;

await runCommand({ help, options: serveOptions }, async (values) => {
  const onStep = (message: string) => console.log(message);
  const options = { ...parseServeOptions(values), quiet: true, onStep };
  await serveUntilStopped(options, async (server) => {
    if (!values["no-demo"]) await loadDemoOnce(server, () => onStep("Loading the demo catalogue …"));
    await welcome(server);
  });
  console.log(`\nStopped. The data is in ${options.data}; npm start picks it up again.`);
});

async function welcome(server: EmbeddedServer): Promise<void> {
  const token = await mintToken(server.data.secret.value, server.vars, {
    subject: "you",
    tenants: [demoTenant],
    scope: defaultScope,
    admin: true,
    lifetime: maxTokenLifetime,
  });
  console.log(`
Rollcall is running at ${server.url}

A token for you: admin, good for 24 hours (npm run token makes narrower ones):

${token}

Three things to try; paste each into another terminal:
`);
  for (const { title, command } of await thingsToTry(server.url, token)) console.log(`# ${title}\n${command}\n`);
  console.log("Ctrl-C stops the server and keeps the data.");
}
