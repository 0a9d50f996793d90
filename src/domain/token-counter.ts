import type { CountTokens } from "./tokens.ts";

export interface CountOptions {
  /** Counts of what is published already, by digest. Asked for once, if at all. */
  knownTokens: () => Promise<ReadonlyMap<string, number>>;
  /** As many characters are counted before anyone is asked: about as much work as asking is. */
  countUnasked: number;
  loadTokenizer: () => Promise<CountTokens>;
  /** Lets other requests run between slices of counting. */
  pause: () => Promise<void>;
}

/** About 20 ms of counting. */
const sliceCharacters = 65_536;

/** Counts the items of one manifest: in slices, and not again what somebody counted before. */
export function tokenCounter(options: CountOptions): (digest: string, text: string) => Promise<number> {
  let known: ReadonlyMap<string, number> | undefined;
  let characters = 0;
  let slice = 0;
  return async (digest, text) => {
    if (characters + text.length > options.countUnasked) known ??= await options.knownTokens();
    const counted = known?.get(digest);
    if (counted !== undefined) return counted;
    if (slice > sliceCharacters) {
      slice = 0;
      await options.pause();
    }
    slice += text.length;
    characters += text.length;
    return (await options.loadTokenizer())(text);
  };
}
