import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, RequestRefused, runCommand, UsageError } from "./command.ts";
import { parseOrigin } from "./smoke/deployment.ts";
import { readSecretFromStdin } from "./stdin.ts";

const help = `
Usage: npm run rebuild:directory -- URL [--data DIR] [--token-stdin]

Rebuilds the directory of a deployment, and the segments that isolates read, from its tenants: for a directory that was lost or
damaged. Every tenant with a head in KV sends its servers again, a thousand heads a step; reads go on meanwhile.
The token is that of ROLLCALL_TOKEN; it must be an admin's. Exit code 1 if a tenant could not answer: run it again.

  --data DIR      of an embedded server: asks every tenant that has a file there as well, if KV was lost too
  --token-stdin   read the token from stdin instead of ROLLCALL_TOKEN
  --help          this text
`;

const options = { data: { type: "string" }, "token-stdin": { type: "boolean", default: false } } as const;

/** Objects asked in one step. */
const atOnce = 200;

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
  const objects = values.data === undefined ? [] : await tenantObjects(values.data);
  const failed: string[] = [];
  let asked = 0;
  const step = async (body: { cursor?: string; objects?: string[] }, what: string) => {
    const made = await rebuildStep(`${url}`, token, body);
    asked += made.asked;
    failed.push(...made.failed);
    console.log(`asked ${asked} ${what}, ${made.waiting} servers to hear of again, directory ${made.directory}`);
    return made.nextCursor;
  };
  for (let cursor: string | undefined; ; ) {
    cursor = await step({ cursor }, "tenants");
    if (cursor === undefined) break;
  }
  asked = 0;
  for (let at = 0; at < objects.length; at += atOnce) {
    await step({ objects: objects.slice(at, at + atOnce) }, `of ${objects.length} files`);
  }
  if (failed.length > 0) throw new CommandError(`These tenants could not answer: ${failed.join(", ")}.`);
});

/** Ids of the tenants' objects that have a file in a data directory. */
async function tenantObjects(data: string): Promise<string[]> {
  const folder = join(data, "objects");
  const kinds = await readdir(folder).catch(() => undefined);
  const tenants = kinds?.find((kind) => kind.endsWith("-TenantObject"));
  if (kinds === undefined)
    throw new UsageError(`${data} has no folder "objects": it is not a server's data directory.`);
  if (tenants === undefined) return [];
  const files = await readdir(join(folder, tenants));
  return files.flatMap((file) => /^([0-9a-f]{64})\.sqlite$/.exec(file)?.[1] ?? []);
}

async function rebuildStep(
  url: string,
  token: string,
  step: { cursor?: string; objects?: string[] },
): Promise<Progress> {
  const response = await fetch(new URL("/api/directory/rebuild", url), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(step),
    signal: AbortSignal.timeout(120_000),
  });
  const body = (await response.json()) as { data?: Progress; error?: { message: string } };
  if (body.data === undefined) {
    throw new RequestRefused(response.status, `The registry refused: ${body.error?.message ?? response.status}`);
  }
  return body.data;
}
