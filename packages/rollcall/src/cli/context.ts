import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connection, connect } from "../client/connection.ts";
import { isRollcallError } from "../client/errors.ts";
import { type LockFile, LockFileError, lockFileName, parseLockFile } from "../lock/lock-file.ts";
import { CliError, exitCodes, UsageError } from "./failure.ts";
import { credentialsWarning, readConfig, sameRegistry, storedToken } from "./settings/profiles.ts";
import { claimsOf } from "./settings/token.ts";
import { span } from "./terminal/layout.ts";
import type { Output } from "./terminal/output.ts";
import { progress } from "./terminal/output.ts";

export interface GlobalOptions {
  url?: string;
  profile?: string;
  tenant?: string;
  json?: boolean;
  color: boolean;
  quiet?: boolean;
  verbose?: boolean;
  timeout?: string;
}

const defaultUrl = "http://127.0.0.1:8787";
const fromLock = "the lock file";

/** What every command gets: flags, output, and a connection when it asks for one. */
export class Context {
  readonly flags: GlobalOptions;
  readonly out: Output;
  /** Aborted by ^C. */
  readonly signal: AbortSignal;
  #connection: Connection | undefined;
  #target: { url: string; profile: string; token: string | undefined; from: string } | undefined;

  constructor(flags: GlobalOptions, out: Output, signal: AbortSignal) {
    this.flags = flags;
    this.out = out;
    this.signal = signal;
  }

  get timeoutMs(): number {
    const { timeout = "30" } = this.flags;
    const seconds = Number(timeout);
    if (!(seconds > 0 && seconds <= 3_600))
      throw new UsageError(`--timeout ${timeout} is not a number of seconds from 1 to 3600`);
    return seconds * 1_000;
  }

  /** Which registry, and with which token: flag, environment, lock file, profile, this machine. */
  target({ lock }: { lock?: LockFile } = {}) {
    if (this.#target !== undefined) return this.#target;
    const { env } = process;
    const config = readConfig();
    const profile = this.flags.profile ?? (env["ROLLCALL_PROFILE"] || undefined) ?? config.current ?? "default";
    const isNamed = this.flags.profile !== undefined || (env["ROLLCALL_PROFILE"] ?? "") !== "";
    const own = config.profiles[profile];
    if (isNamed && own === undefined && this.flags.url === undefined) {
      const known = Object.keys(config.profiles).join(", ") || "none";
      throw new UsageError(`There is no profile "${profile}"; known: ${known}`, {
        hint: `Make it with rollcall login URL --profile ${profile}`,
      });
    }
    const candidates: [string | undefined, string][] = [
      [this.flags.url, "--url"],
      [env["ROLLCALL_URL"] || undefined, "ROLLCALL_URL"],
      [lock?.registry, fromLock],
      [own?.url, `profile ${profile}`],
      [defaultUrl, "the default"],
    ];
    const [url = defaultUrl, from] = candidates.find(([value]) => value !== undefined) ?? [defaultUrl, "the default"];
    const given = env["ROLLCALL_TOKEN"]?.trim() || undefined;
    const stored = this.#tokenFor(config.profiles, profile, url);
    // Whoever can change a file of the repository could otherwise have CI send its token to an address of theirs.
    const isTrusted = from !== fromLock || sameRegistry(config.profiles[profile]?.url ?? defaultUrl, url);
    if (given !== undefined && !isTrusted && stored === undefined)
      this.out.warn(
        `ROLLCALL_TOKEN is not sent to ${url}, which only the lock file names. To send it, set ROLLCALL_URL.`,
      );
    this.#target = { url, profile, token: isTrusted ? (given ?? stored) : stored, from };
    return this.#target;
  }

  /** The profile's own token, else one that was stored for the same address. */
  #tokenFor(profiles: Record<string, { url: string }>, profile: string, url: string): string | undefined {
    const own = storedToken(profile, url);
    if (own !== undefined) return own;
    const other = Object.entries(profiles).find(([, one]) => sameRegistry(one.url, url));
    return other === undefined ? undefined : storedToken(other[0], url);
  }

  connection(options: { lock?: LockFile } = {}): Connection {
    if (this.#connection !== undefined) return this.#connection;
    const { url, token } = this.target(options);
    const warning = credentialsWarning();
    if (warning !== undefined) this.out.warn(warning);
    this.#connection = connect({
      url,
      token,
      timeoutMs: this.timeoutMs,
      onRequest: ({ method, path, status, ms, requestId }) => {
        if (this.out.isVerbose)
          this.out.error(`  ${method} ${path} ${status || "no answer"} ${ms} ms ${requestId ?? ""}`.trimEnd());
      },
    });
    return this.#connection;
  }

  /** Runs work while a line says what is being waited for. */
  async during<T>(what: string, work: (say: (text: string) => void) => Promise<T>): Promise<T> {
    const line = progress(this.out, this.flags.quiet === true || this.out.isJson, what);
    try {
      return await work(line.say);
    } finally {
      line.stop();
    }
  }

  /** `tenant/name`, where `--tenant` stands in for the first half. */
  server(text: string): string {
    const full = text.includes("/") || this.flags.tenant === undefined ? text : `${this.flags.tenant}/${text}`;
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(full)) {
      throw new UsageError(`"${text}" is not the name of a server`, {
        hint: "It looks like acme/weather: tenant, slash, name.",
      });
    }
    return full;
  }

  /** Explains a refused token by what it says of itself. */
  signInError(error: unknown): unknown {
    if (!isRollcallError(error) || error.status !== 401) return error;
    const { token, url } = this.target();
    if (token === undefined) {
      return new CliError("This needs a token", {
        exitCode: exitCodes.signIn,
        code: error.code,
        where: url,
        hint: "Sign in with rollcall login, or set ROLLCALL_TOKEN.",
      });
    }
    const { reason, message } = (error.details ?? {}) as { reason?: string; message?: string };
    const claims = claimsOf(token);
    const now = Date.now() / 1_000;
    const known = { exitCode: exitCodes.signIn, code: error.code, where: url, details: error.details };
    const again = `Sign in again with rollcall login ${url}`;
    if (claims === undefined)
      return new CliError("The token is not one: a token has three parts with dots between them", {
        ...known,
        hint: again,
      });
    if (claims.expires !== undefined && claims.expires <= now) {
      const when = new Date(claims.expires * 1_000).toISOString();
      return new CliError(`The token ended ${span(now - claims.expires)} ago, at ${when}`, { ...known, hint: again });
    }
    if (reason === "expired" || reason === "not-yet" || reason === "issued-in-future") {
      const until = new Date((claims.expires ?? 0) * 1_000).toISOString();
      return new CliError(
        `The registry's clock and this machine's differ: here the token is valid until ${until}, there it is not (${message ?? reason})`,
        {
          ...known,
          hint: "Set the clock of this machine; rollcall doctor shows how far it is off.",
        },
      );
    }
    if (reason === "audience") {
      const named = claims.audience.map((one) => `"${one}"`).join(", ") || "nobody";
      return new CliError(`This token is for audience ${named}, which is not this registry`, {
        ...known,
        hint: `Sign in with a token whose audience is "rollcall", or what this deployment has set (JWT_AUDIENCE).`,
      });
    }
    return new CliError(`The registry refuses the token: ${message ?? error.message}`, { ...known, hint: again });
  }
}

/** The lock file of this folder, or of `--lock`. */
export function readLock(path = lockFileName): { lock: LockFile; text: string; path: string } | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new UsageError(`${path} cannot be read: ${code}`);
  }
  try {
    return { lock: parseLockFile(text), text, path };
  } catch (error) {
    if (!(error instanceof LockFileError)) throw error;
    throw new UsageError(error.message, { where: path, hint: error.hint, code: "ErrorLockFile" });
  }
}

/** The clone that this runs in; undefined if it is the packed command. */
export function cloneRoot(): string | undefined {
  const folder = fileURLToPath(new URL("../../../../", import.meta.url).href);
  return existsSync(join(folder, "scripts/serve.ts")) && existsSync(join(folder, "wrangler.toml")) ? folder : undefined;
}
