import { type ChildProcess, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { basename } from "node:path";

/**
 * Sees to it that workerd ends with this process. Miniflare stops it on an orderly exit, but a server that is killed
 * outright would leave it behind, still answering on the port and still writing to the data directory. So a shell that
 * shares no signals with us remembers the last process id it was sent, and kills it when the pipe to us breaks.
 *
 * Call before Miniflare starts; call the result after it has been disposed of.
 */
export function guardRuntime(): () => void {
  if (process.platform === "win32") return () => {};
  const guard = spawn("/bin/sh", ["-c", 'while read -r pid; do last=$pid; done; [ -z "$last" ] || kill -9 "$last"'], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  let ended: string | undefined;
  // Miniflare tells nobody the id of the process, and starts another if it crashes; Node announces both.
  const onProcess = (message: unknown) => {
    const { process: child } = message as { process: ChildProcess };
    child.once("spawn", () => {
      if (!basename(child.spawnfile).startsWith("workerd")) return;
      guard.stdin.write(`${child.pid}\n`);
      if (ended !== undefined) console.error(`The runtime ended (${ended}) and was started again`);
      ended = undefined;
      child.once("exit", (code, signal) => {
        ended = signal ?? `exit code ${code}`;
      });
    });
  };
  subscribe("child_process", onProcess);
  return () => {
    unsubscribe("child_process", onProcess);
    guard.stdin.end("\n");
  };
}
