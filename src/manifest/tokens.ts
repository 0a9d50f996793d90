import { analysisUnits, type Pace } from "../kernel/pace/pace.ts";

export interface CountOptions {
  /** Token counts of published definitions, by their text. Called at most once per manifest. */
  knownTokens: () => Promise<ReadonlyMap<string, number>>;
  /** Characters to count before `knownTokens` is called: counting them costs about as much as the call. */
  charactersBeforeLookup: number;
  loadTokenizer: () => Promise<CountTokens>;
  /** Lets other requests run. */
  pace: Pace;
}

/** Counts the tokens of one manifest's definitions, with pauses, and reuses known counts. */
export function tokenCounter(options: CountOptions): (text: string) => Promise<number> {
  let known: ReadonlyMap<string, number> | undefined;
  let characters = 0;
  return async (text) => {
    if (characters + text.length > options.charactersBeforeLookup) known ??= await options.knownTokens();
    const counted = known?.get(text);
    if (counted !== undefined) return counted;
    characters += text.length;
    const tokens = (await options.loadTokenizer())(text);
    await options.pace.spend(analysisUnits(text.length));
    return tokens;
  };
}

/**
 * Counts tokens with the cl100k_base vocabulary. The tokenizer is large, so it is loaded on first use. Reads never need
 * it, because counts are stored at publish.
 */
export type CountTokens = (text: string) => number;

/**
 * Byte-pair merging is quadratic in the length of one piece, and a piece is an unbroken run of letters, punctuation or
 * white space: 100 kB of one letter takes seconds. Longer runs are cut, which changes the count by at most one token
 * per cut, and only in text that nobody writes by hand.
 */
const maxRunLength = 256;
const longRun = new RegExp(
  `\\p{L}{${maxRunLength + 1},}|[^\\s\\p{L}\\p{N}]{${maxRunLength + 1},}|\\s{${maxRunLength + 1},}`,
  "gu",
);

/** True if the count may differ from the tokenizer's count of the uncut text. */
export function hasLongRun(text: string): boolean {
  return mayHaveLongRun(text) && text.search(longRun) !== -1;
}

/** Letter, digit, white space or other, by ASCII code. */
const classes = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z]/.test(character) ? 1 : /\d/.test(character) ? 2 : /\s/.test(character) ? 3 : 4;
});

/**
 * False if no run is long. Looks only around every 128th character, because a long run contains one of them; searching
 * for the pattern takes longer than all else that is done with a short text. Text beyond ASCII is left to the pattern.
 */
function mayHaveLongRun(text: string): boolean {
  for (let at = maxRunLength / 2; at < text.length; at += maxRunLength / 2) {
    const kind = classes[text.charCodeAt(at)];
    if (kind === undefined) return true;
    let from = at;
    let to = at;
    while (from > 0 && (classes[text.charCodeAt(from - 1)] ?? kind) === kind) from -= 1;
    while (to < text.length && (classes[text.charCodeAt(to)] ?? kind) === kind) to += 1;
    if (to - from > maxRunLength) return true;
  }
  return false;
}

let loaded: CountTokens | undefined;

export async function loadTokenizer(): Promise<CountTokens> {
  if (loaded === undefined) {
    const { countTokens } = await import("gpt-tokenizer/encoding/cl100k_base");
    // Special tokens such as <|endoftext|> in a description are counted as plain text.
    const options = { disallowedSpecial: new Set<string>() };
    loaded = (text) => boundedPieces(text).reduce((sum, piece) => sum + countTokens(piece, options), 0);
  }
  return loaded;
}

/** Cuts text only inside runs longer than `maxRunLength`. Text without such runs is returned whole. */
export function boundedPieces(text: string): string[] {
  if (!mayHaveLongRun(text)) return text === "" ? [] : [text];
  const pieces: string[] = [];
  let start = 0;
  for (const match of text.matchAll(longRun)) {
    if (match.index > start) pieces.push(text.slice(start, match.index));
    const run = Array.from(match[0]);
    for (let at = 0; at < run.length; at += maxRunLength) pieces.push(run.slice(at, at + maxRunLength).join(""));
    start = match.index + match[0].length;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}
