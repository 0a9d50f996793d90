import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, runCommand } from "./command.ts";
import { Ledger } from "./drills/ledger.ts";
import { buildEntry, startServer, tokenFor, withScratch } from "./drills/server.ts";

const help = `
Usage: npm run crash [-- --rounds N] [--control]

Kills the embedded server with SIGKILL under publishes (some of 800 items, which are staged), hooks and their
events, refreshes of a source, negotiations, and changes of public servers, which the directory writes to segments. Starts
it again on the same data, and compares what was acknowledged with what is there. Prints how much was acknowledged, lost,
duplicated and resumed, and fails if anything was lost or duplicated, or could not be resumed.

  --rounds N    how often to kill it (default 20)
  --control     runs a Worker that answers before its object has written, and fails if that loses nothing
  --help        this text
`;

/** On a slow machine no large publish ends before the next kill: at every other round one may. */
async function largePublish(ledger: Ledger): Promise<void> {
  const before = ledger.slowWork.largePublishes;
  for (let look = 0; look < 100 && ledger.slowWork.largePublishes === before; look += 1) await sleep(200);
}

/** The source that is read is on this machine. */
const vars = ["ALLOW_LOOPBACK_FETCH=true"];

const options = { rounds: { type: "string", default: "20" }, control: { type: "boolean", default: false } } as const;

await runCommand({ help, options }, async ({ rounds: given, control }) => {
  const rounds = Number(given);
  if (!Number.isInteger(rounds) || rounds < 1) throw new CommandError("--rounds takes a whole number above 0.");
  await withScratch("crash", async (folder) => {
    const data = join(folder, "data");
    const bundle = control ? await buildEntry("test/drills/answers-too-early.ts", join(folder, "worker")) : undefined;
    const token = await tokenFor(data, ["crash"]);
    const ledger = new Ledger(token);
    for (let round = 1; round <= rounds; round += 1) {
      const server = await startServer(data, vars, bundle);
      if (round === 1) await ledger.prepare(server.url);
      else await ledger.check(server.url);
      const over = ledger.load(server.url);
      if (round % 2 === 0) await largePublish(ledger);
      // Anywhere between the first answers and a full outbox.
      await sleep(500 + Math.random() * 2_500);
      await server.kill();
      await over();
      console.log(`round ${round}: ${ledger.summary()}`);
    }
    const server = await startServer(data, vars, bundle);
    await ledger.check(server.url);
    await server.kill();
    await ledger.stop();
    console.log(ledger.report());
    const { lost, duplicated, unresumed } = ledger.totals;
    const { largePublishes, directoryStates } = ledger.slowWork;
    if (!control && rounds > 1 && (largePublishes === 0 || directoryStates === 0))
      throw new CommandError(
        "No large publish or no state of the directory was there to be lost: the machine is too slow.",
      );
    if (control && lost === 0) throw new CommandError("The control lost nothing: this drill would not find a loss.");
    if (!control && lost + duplicated + unresumed > 0) throw new CommandError("Something acknowledged is not there.");
  });
});
