import pico from "picocolors";
import { printable, printableJson, withoutControls } from "./printable.ts";

type Colours = ReturnType<typeof pico.createColors>;

export interface OutputOptions {
  json: boolean;
  colour: boolean;
  quiet: boolean;
  verbose: boolean;
}

/** stdout is the answer, stderr is everything else. */
export interface Output {
  readonly isJson: boolean;
  readonly isVerbose: boolean;
  readonly colours: Colours;
  /** Columns of the terminal that the answer goes to; 0 if it is none: then nothing is cut. */
  readonly columns: number;
  /** Lines of the answer. Their publisher text has been through `printable`; controls that it missed are escaped here. */
  print(...lines: string[]): void;
  /** JSON that is the answer even without `--json`, such as definitions. */
  printJson(data: unknown): void;
  /** The answer under `--json`. */
  json(data: unknown): void;
  /** One object a line, for streams. */
  jsonLine(data: unknown): void;
  /** Progress and remarks; silent with --quiet. */
  note(...lines: string[]): void;
  warn(line: string): void;
  error(line: string): void;
}

export function wantsColour(stream: NodeJS.WriteStream, flag: boolean, env: NodeJS.ProcessEnv): boolean {
  if (!flag || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  if ((env["FORCE_COLOR"] ?? "") !== "" && env["FORCE_COLOR"] !== "0") return true;
  return stream.isTTY === true;
}

export function createOutput({ json, colour, quiet, verbose }: OutputOptions): Output {
  const { stdout, stderr } = process;
  const out = pico.createColors(wantsColour(stdout, colour, process.env));
  const err = pico.createColors(wantsColour(stderr, colour, process.env));
  const line = (stream: NodeJS.WriteStream, text: string) => stream.write(`${text}\n`);
  return {
    isJson: json,
    isVerbose: verbose,
    colours: out,
    columns: stdout.isTTY ? (stdout.columns ?? 80) : 0,
    print: (...lines) => {
      if (!json) for (const text of lines) line(stdout, withoutControls(text, out.isColorSupported));
    },
    printJson: (data) => {
      if (!json) line(stdout, printableJson(data, 2));
    },
    json: (data) => {
      if (json) line(stdout, printableJson(data, 2));
    },
    jsonLine: (data) => {
      if (json) line(stdout, printableJson(data));
    },
    note: (...lines) => {
      if (!quiet) for (const text of lines) line(stderr, withoutControls(text, out.isColorSupported));
    },
    warn: (text) => line(stderr, `${err.yellow("!")} ${printable(text)}`),
    error: (text) => line(stderr, withoutControls(text, false)),
  };
}

/** A line on stderr that says what is being waited for: after 300 ms, on terminals only, gone when done. */
export function progress(
  out: Pick<Output, "isVerbose">,
  quiet: boolean,
  what: string,
): { say(text: string): void; stop(): void } {
  if (process.stderr.isTTY !== true || quiet || out.isVerbose || process.env["TERM"] === "dumb")
    return { say() {}, stop() {} };
  const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
  let text = what;
  let frame = 0;
  let shown = false;
  let ticker: NodeJS.Timeout | undefined;
  const draw = () => {
    shown = true;
    frame = (frame + 1) % frames.length;
    process.stderr.write(`\r\u001b[2K${frames[frame]} ${printable(text).slice(0, (process.stderr.columns ?? 80) - 4)}`);
  };
  const starter = setTimeout(() => {
    draw();
    ticker = setInterval(draw, 100);
    ticker.unref();
  }, 300);
  starter.unref();
  return {
    say(next) {
      text = next;
    },
    stop() {
      clearTimeout(starter);
      clearInterval(ticker);
      if (shown) process.stderr.write("\r\u001b[2K");
    },
  };
}
