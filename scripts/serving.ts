import { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from "./embedded.ts";
import { openFilesWarning } from "./open-files.ts";
import { releaseMemory } from "./release-memory.ts";

/**
 * Starts the embedded server, calls `onReady` and serves until it is told to stop. A signal that comes before the server
 * is up ends the process at once: there is nothing to lose yet.
 */
export async function serveUntilStopped(
  options: EmbeddedOptions,
  onReady: (server: EmbeddedServer) => Promise<void>,
): Promise<void> {
  const warning = openFilesWarning();
  if (warning !== undefined) console.error(warning);
  const server = await startEmbedded(options);
  const stopped = Promise.race([stopSignal(), npmEnded()]);
  try {
    await Promise.race([onReady(server), stopped]);
    releaseMemory();
    await stopped;
  } finally {
    await server.stop();
  }
}

/**
 * Resolves at Ctrl-C, at SIGTERM, and when the terminal is closed (SIGHUP). Further signals are ignored, not taken for impatience: npm passes on the Ctrl-C that
 * the terminal has already sent to every process.
 */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      // Miniflare's own listeners end the process on the spot, with an error's exit code.
      process.removeAllListeners(signal);
      process.on(signal, () => resolve());
    }
  });
}

/**
 * Resolves when the npm that started this process is gone. Told to stop, npm ends the shell between us, which tells us
 * nothing, and the server would run on unseen.
 */
function npmEnded(): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    if (process.env["npm_lifecycle_event"] === undefined) return;
    setInterval(() => process.ppid !== parent && resolve(), 200).unref();
  });
}
