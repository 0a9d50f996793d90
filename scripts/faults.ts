import { runCommand } from "./command.ts";
import { buildClock, clockGoesBack } from "./drills/clock.ts";
import { diskFails, insideNamespace, isMountAllowed } from "./drills/disk.ts";
import { withScratch } from "./drills/server.ts";

const help = `
Usage: npm run drill:faults

Runs an embedded server on a machine that fails. Its clock is set back by an hour and by five days while it runs (a library that
cc builds);
its disk, a small tmpfs in a mount namespace, is full and read-only, while it runs and at its start. Looks whether writes go
on or are 503 with Retry-After, whether the server says what is wrong, and whether it recovers by itself. What this machine
does not allow is skipped, with a sentence. Takes about a minute.

  --help   this text
`;

const steps = [
  ["an hour", 3_600],
  ["five days", 432_000],
] as const;

await runCommand({ help, options: { inside: { type: "string" } } as const }, async ({ inside }) => {
  // In a namespace of its own, where nothing that is mounted is seen by others.
  if (inside !== undefined) {
    for (const sentence of await diskFails(inside)) console.log(sentence);
    return;
  }
  await withScratch("clock", async (folder) => {
    const library = await buildClock(folder);
    if (library === undefined) console.log("Skipped: the clock, because there is no C compiler for Linux (cc).");
    else for (const [name, seconds] of steps) console.log(await clockGoesBack(library, name, seconds));
  });
  if (await isMountAllowed()) await insideNamespace();
  else console.log("Skipped: the disk, because this user may not mount in a namespace of its own (unshare --mount).");
});
