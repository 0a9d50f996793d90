import type { Exchange } from "../harness/exchange.ts";
import type { Target } from "../harness/target.ts";

/** How much there is of what a case goes through in turn. */
export interface Scale {
  sessions: number;
}

/** One thing that callers do, over and over. */
export interface Case {
  name: string;
  /** What every answer must be. */
  status: number;
  /** Asked by many at once and answered from memory: measured for longer. */
  hot?: boolean;
  /** What it owes KV and the directory is done a moment after it is answered. */
  writes?: boolean;
  /** How many ask at once; where absent, as many as the command says. */
  connections?: number;
  /** Readies what the case needs; answers what to send next. */
  prepare(target: Target, scale: Scale): Promise<Prepared>;
}

export interface Prepared {
  next: () => Exchange;
  /** Where the case is asked, if it has a registry of its own. */
  target?: Target;
  stop?: () => Promise<void>;
}
