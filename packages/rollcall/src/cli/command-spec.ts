import type { Context } from "./context.ts";

/** One command: its words, its options, an example, and where its code is. The code is loaded when it runs. */
export interface CommandSpec {
  /** Name and arguments, as commander reads them. */
  usage: string;
  summary: string;
  /** Flags and what they do; a flag that may be repeated ends with `...`. */
  options?: readonly (readonly [flags: string, description: string])[];
  example: string;
  /** Commands below this one. */
  commands?: readonly CommandSpec[];
  run?: (context: Context, args: string[], options: Options) => Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: the flags of each command are read by its own interface
export type Options = any;

export const yes = ["--yes", "answer yes to the question"] as const;
