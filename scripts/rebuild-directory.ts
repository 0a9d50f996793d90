import { CommandError, RequestRefused, runCommand, UsageError } from "./command.ts";
import { parseOrigin } from "./smoke/deployment.ts";
import { readSecretFromStdin } from "./stdin.ts";

const help = `
Usage: npm run rebuild:directory -- URL [--token-stdin]

Rebuilds the directory of a deployment, and the segments that isolates read, from its tenants: for a directory that was lost or
damaged. Every tenant with a head in KV sends its servers again, a thousand heads a step; reads go on meanwhile.
The token is that of ROLLCALL_TOKEN; it must be an admin's. Exit code 1 if a tenant could not answer: run it again.

  --token-stdin   read the token from stdin instead of ROLLCALL_TOKEN
  --help          this text
`;

const options = { "token-stdin": { type: "boolean", default: false } } as const;

interface Progress {
  asked: number;
  failed: string[];
  waiting: number;
  directory: string;
  nextCursor?: string;
}

await runCommand({ help, options, takes: ["URL"] }, async (values, [address = ""]) => {
  const url = parseOrigin(address);
  const token = values["token-stdin"] ? await readSecretFromStdin("the token") : process.env["ROLLCALL_TOKEN"];
  if (!token) throw new UsageError("Set ROLLCALL_TOKEN, or pipe a token in with --token-stdin.");
  const failed: string[] = [];
  let asked = 0;
  for (let cursor: string | undefined; ; ) {
    const step = await rebuildStep(`${url}`, token, cursor);
    asked += step.asked;
    failed.push(...step.failed);
    console.log(`asked ${asked} tenants, ${step.waiting} servers to hear of again, directory ${step.directory}`);
    cursor = step.nextCursor;
    if (cursor === undefined) break;
  }
  if (failed.length > 0) throw new CommandError(`These tenants could not answer: ${failed.join(", ")}.`);
});

async function rebuildStep(url: string, token: string, cursor: string | undefined): Promise<Progress> {
  const response = await fetch(new URL("/api/directory/rebuild", url), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ cursor }),
    signal: AbortSignal.timeout(120_000),
  });
  const body = (await response.json()) as { data?: Progress; error?: { message: string } };
  if (body.data === undefined) {
    throw new RequestRefused(response.status, `The registry refused: ${body.error?.message ?? response.status}`);
  }
  return body.data;
}
