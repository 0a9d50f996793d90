import { randomUUID } from "node:crypto";
import { CommandError, runCommand, UsageError } from "./command.ts";
import { arrival } from "./smoke/arrival.ts";
import { Deployment, parseOrigin } from "./smoke/deployment.ts";
import { cleanUp, type Step, steps, type Trial } from "./smoke/steps.ts";
import { readSecretFromStdin } from "./stdin.ts";

const help = `
Usage: npm run smoke -- URL [--tenant T] [--token-stdin]

Tries a deployment end to end: health, token and address first, then publish, read, search, hook, negotiate, stream, purge
and delete, with a server of its own that is removed at the end, whatever happens. The tenant's change log keeps the entries.
The token is that of ROLLCALL_TOKEN; it needs registry:read and registry:publish. Exit code 1 if a step fails.

  --tenant T      the tenant to publish in (default: the token's, if it has one)
  --token-stdin   read the token from stdin instead of ROLLCALL_TOKEN
  --help          this text
`;

const options = {
  tenant: { type: "string" },
  "token-stdin": { type: "boolean", default: false },
} as const;

/** A narrowed visibility may take 80 s everywhere, and becoming public as long. */
const wholeMs = 240_000;

await runCommand({ help, options, takes: ["URL"] }, async (values, [address = ""]) => {
  const url = parseOrigin(address);
  const token = values["token-stdin"] ? await readSecretFromStdin("the token") : process.env["ROLLCALL_TOKEN"]?.trim();
  if (!token) throw new UsageError("Set ROLLCALL_TOKEN, or pipe a token in with --token-stdin.");
  // What cannot be sent as a header would be shown in the error for that.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("ROLLCALL_TOKEN is more than one word; it must be the token alone.");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort(new Error("Stopped.")));
  const timer = setTimeout(() => stop.abort(new Error("The trial took longer than 4 minutes.")), wholeMs);
  const at = new Deployment(url, token, stop.signal);
  const started = Date.now();
  const server = `smoke-${randomUUID().slice(0, 8)}`;
  const trial: Trial = { at, tenant: values.tenant ?? "", server, generation: 0, mayExist: false };
  const all = [...arrival, ...steps];
  try {
    for (const step of all) await report(step, trial);
  } finally {
    clearTimeout(timer);
    const left = await cleanUp(trial);
    if (left.length > 0) console.error(`Left behind: ${left.join(", ")}.`);
  }
  console.log(`${all.length} of ${all.length} steps passed in ${((Date.now() - started) / 1_000).toFixed(1)} s.`);
});

async function report({ name, run }: Step, trial: Trial): Promise<void> {
  try {
    console.log(`✓ ${name.padEnd(10)} ${await run(trial)}`);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.log(`✗ ${name.padEnd(10)} ${error.message}`);
    throw new CommandError(`${trial.at.url} did not pass: ${name}.`);
  }
}
