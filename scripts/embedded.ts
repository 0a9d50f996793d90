import { bundlePath, ensureBuilt } from "./bundle.ts";
import { CommandError } from "./command.ts";
import { checkFormat, checkWritable, type DataDir, openDataDir } from "./data-dir.ts";
import { type Lock, takeLock } from "./lock.ts";
import { ownAddress } from "./own-address.ts";
import { PortInUse, requireFreePort } from "./port.ts";
import { startRuntime } from "./runtime.ts";
import { readWorkerConfig } from "./worker-config.ts";

export interface EmbeddedOptions {
  host: string;
  /** 0 for any free one. */
  port: number;
  data: string;
  /** Replace vars of wrangler.toml. */
  vars: Record<string, string>;
  /** Another Worker than the one that is deployed, already built: with what only a test serves. */
  bundle?: string;
  /** Leaves out of stderr what the Worker logs, unless it is a problem. */
  quiet?: boolean;
  /** Leaves out of the log the writes of this subject that succeed. */
  quietSubject?: string;
  /** Opens an inspector of the Worker's isolate, on loopback. */
  inspect?: boolean;
  /** Told of each step that takes a while or happens only once. */
  onStep?: (message: string) => void;
}

export interface EmbeddedServer {
  /** Without a slash at the end. */
  url: string;
  /** undefined if it was not asked for. */
  inspectorUrl: string | undefined;
  data: DataDir;
  /** The vars the Worker runs with. */
  vars: Record<string, string>;
  stop(): Promise<void>;
}

/** Runs the Worker, as deployed, in this process's own runtime, with its data in a directory. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      // A free port that was found can be taken before the runtime has it.
      if (!(error instanceof PortInUse) || options.port !== 0 || attempt === 3) throw error;
    }
  }
}

async function startOnce(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { onStep = () => {} } = options;
  // Before anything is made: a port in use must not leave a data directory behind.
  const port = await requireFreePort(options.host, options.port);
  const data = await openDataDir(options.data);
  const lock = lockDataDir(data);
  try {
    const unwritable = await checkWritable(data);
    if (unwritable !== undefined) console.error(unwritable);
    const newer = unwritable === undefined ? await checkFormat(data) : undefined;
    if (newer !== undefined) console.error(newer);
    if (data.secret.created) onStep(`First run: made a secret in ${data.path}`);
    if (options.bundle === undefined) await ensureBuilt(() => onStep("Building the Worker …"));
    const config = await readWorkerConfig();
    const { host, quiet = false, quietSubject, bundle = bundlePath, inspect } = options;
    const isPublic = Boolean(options.vars["PUBLIC_URL"] ?? config.vars["PUBLIC_URL"]);
    const own = { ...ownAddress(host, port, isPublic), DISCARD_REFUSED_BODIES: "true" };
    const vars = { ...config.vars, ...own, ...options.vars };
    const start = () => startRuntime({ host, port, quiet, quietSubject, bundle, config, data, vars, inspect });
    let runtime = await start();
    const { url, inspectorUrl } = runtime;
    lock.describe(`the server at ${url} (process ${process.pid})`);
    // What the runtime has opened for reading stays so: it is started again once the data can be written.
    const stopWaiting =
      unwritable === undefined
        ? async () => {}
        : onceWritable(data, async () => {
            await runtime.stop();
            runtime = await start();
            console.error(`${data.path} can be written again: the runtime was started again`);
          });
    return {
      url,
      inspectorUrl,
      data,
      vars,
      async stop() {
        await stopWaiting();
        await runtime.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

const betweenLooksMs = 5_000;

/** Calls `restart` when the data directory can be written. The result ends the waiting, after a restart under way. */
function onceWritable(data: DataDir, restart: () => Promise<void>): () => Promise<void> {
  let restarting: Promise<void> = Promise.resolve();
  const timer = setInterval(async () => {
    if ((await checkWritable(data)) !== undefined) return;
    clearInterval(timer);
    restarting = restart();
    await restarting;
  }, betweenLooksMs);
  return () => {
    clearInterval(timer);
    return restarting;
  };
}

function lockDataDir(data: DataDir): Lock {
  const lock = takeLock(data.lock);
  if ("takenBy" in lock) {
    throw new CommandError(
      `${data.path} is in use by ${lock.takenBy}. Stop that one first, or choose another directory with --data DIR.`,
    );
  }
  return lock;
}
