import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { CommandError, errorCode } from "../command.ts";
import { projectPath } from "../project.ts";
import { ask, require200, until } from "./expect.ts";
import { type DrilledServer, startServer, tokenFor, withScratch } from "./server.ts";

const run = promisify(execFile);
const tenant = "disk";
const path = `/api/mcp/capabilities/${tenant}/s`;

/** Arguments of unshare; a user who is not root maps itself to root of a namespace of its own. */
const namespace = ["--mount", "--propagation", "private", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];

export async function isMountAllowed(): Promise<boolean> {
  return run("unshare", [...namespace, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).then(
    () => true,
    () => false,
  );
}

/** Runs `diskFails` in a process that has a mount namespace of its own. */
export function insideNamespace(): Promise<void> {
  return withScratch("disk", async (folder) => {
    const args = [...namespace, process.execPath, projectPath("scripts/faults.ts"), "--inside", folder];
    const child = spawn("unshare", args, { cwd: projectPath(), stdio: "inherit" });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new CommandError("The drill of the disk failed.");
  });
}

/** Returns what was seen, in sentences. */
export async function diskFails(folder: string): Promise<string[]> {
  const disk = join(folder, "disk");
  const data = join(disk, "data");
  await mkdir(disk);
  await run("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]);
  const token = await tokenFor(data, [tenant]);
  const drill = new DiskDrill(data, token);
  try {
    return [
      await drill.fillsUp(() => fill(disk)),
      await drill.isFullAtStart(() => fill(disk)),
      await drill.isReadOnlyAtStart((way) => run("mount", ["-o", `remount,${way}`, disk])),
    ];
  } finally {
    await drill.end();
    await run("umount", [disk]).catch(() => {});
  }
}

/** Takes all that is left of a disk. The result gives it back. */
async function fill(disk: string): Promise<() => Promise<void>> {
  const file = join(disk, "filler");
  const handle = await open(file, "w");
  // To the last page: less than that is less than what any write needs.
  for (const size of [1_048_576, 4_096]) {
    try {
      for (;;) await handle.write(Buffer.alloc(size, 1));
    } catch (error) {
      if (errorCode(error) !== "ENOSPC") throw error;
    }
  }
  await handle.close();
  if ((await stat(file)).size === 0) throw new CommandError("The disk was full before it was filled.");
  return () => rm(file);
}

class DiskDrill {
  readonly #data: string;
  readonly #token: string;
  #server: DrilledServer | undefined;
  /** Generations that were acknowledged. */
  #acknowledged = 0;

  constructor(data: string, token: string) {
    this.#data = data;
    this.#token = token;
  }

  async fillsUp(fillDisk: () => Promise<() => Promise<void>>): Promise<string> {
    const { url } = await this.#start();
    for (let turn = 0; turn < 3; turn += 1) await this.#publish(url);
    const empty = await fillDisk();
    await this.#isRefused(url);
    const { status } = await ask(url, this.#token, "GET", path);
    if (status !== 200) throw new CommandError(`A read without room on the disk is ${status}.`);
    await this.#recovers(url, empty);
    return "disk full under a running server: 503 with Retry-After, what is in memory still read, recovered by itself";
  }

  async isFullAtStart(fillDisk: () => Promise<() => Promise<void>>): Promise<string> {
    await this.end();
    const empty = await fillDisk();
    const { url, log } = await this.#start();
    requireSentence(log(), /The disk of \S+ is full \(ENOSPC\)/);
    await this.#isRefused(url);
    await this.#recovers(url, empty);
    return "disk full at the start: said in a sentence, 503 with Retry-After, recovered by itself";
  }

  async isReadOnlyAtStart(remount: (way: "ro" | "rw") => Promise<unknown>): Promise<string> {
    await this.end();
    await remount("ro");
    const { url, log } = await this.#start();
    requireSentence(log(), /\S+ is read-only \(EROFS\)/);
    await this.#isRefused(url);
    await this.#recovers(url, () => remount("rw"));
    return "data read-only at the start: said in a sentence, 503 with Retry-After, recovered by itself";
  }

  async end(): Promise<void> {
    await this.#server?.kill();
    this.#server = undefined;
  }

  async #start(): Promise<DrilledServer> {
    this.#server = await startServer(this.#data);
    return this.#server;
  }

  async #publish(url: string): Promise<void> {
    const { data } = await require200(url, this.#token, "PUT", path, manifestOf(this.#acknowledged + 1));
    this.#acknowledged = data.generation;
  }

  /** A full disk may have room for one more write in pages that are there already; what is acknowledged counts. */
  async #isRefused(url: string): Promise<void> {
    await until("a publish that is refused", async () => {
      const { status, retryAfter, body } = await ask(url, this.#token, "PUT", path, manifestOf(this.#acknowledged + 1));
      if (status < 300) {
        this.#acknowledged = body.data.generation;
        return false;
      }
      if (status === 503 && Number(retryAfter) > 0) return true;
      throw new CommandError(
        `A publish without storage is ${status}, Retry-After ${retryAfter}: ${JSON.stringify(body)}`,
      );
    });
    const { status, body } = await ask(url, this.#token, "GET", "/healthz");
    if (!JSON.stringify(body).includes("degraded")) {
      throw new CommandError(`/healthz is ${status} without storage: ${JSON.stringify(body)}`);
    }
  }

  async #recovers(url: string, giveBack: () => Promise<unknown>): Promise<void> {
    await giveBack();
    await until("/healthz is ok again", async () => {
      const answer = await ask(url, this.#token, "GET", "/healthz").catch(() => undefined);
      return answer !== undefined && !JSON.stringify(answer.body).includes("degraded");
    });
    const before = this.#acknowledged;
    const { status, body } = await ask(url, this.#token, "GET", path);
    const turn = Number(/tool_(\d+)/.exec(JSON.stringify(body))?.[1]);
    if (status !== 200 || turn !== before)
      throw new CommandError(`Read ${turn} (${status}) after ${before} was acknowledged.`);
    await this.#publish(url);
    if (this.#acknowledged !== before + 1) {
      throw new CommandError(`Generation ${this.#acknowledged} follows ${before}: one was lost or used twice.`);
    }
  }
}

function requireSentence(log: string, sentence: RegExp): void {
  if (!sentence.test(log)) throw new CommandError(`The server did not say what is wrong at its start:\n${log}`);
}

const manifestOf = (turn: number) => ({
  // Large enough to need pages of its own.
  tools: [
    { name: `tool_${turn}`, description: `Turn ${turn}. ${"word ".repeat(2_000)}`, inputSchema: { type: "object" } },
  ],
});
