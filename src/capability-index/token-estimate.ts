/** The size of a text, as far as it can be told without a tokenizer. */
export interface TextSize {
  chars: number;
  words: number;
  lines: number;
}

export function sizeOfText(text: string): TextSize {
  return {
    chars: text.length,
    words: Array.from(text.matchAll(/\S+/g)).length,
    lines: Array.from(text.matchAll(/\n/g)).length + (text === "" || text.endsWith("\n") ? 0 : 1),
  };
}

/** Sizes of texts that follow each other, each of which ends its last line. */
export function addSizes(a: TextSize, b: TextSize): TextSize {
  return { chars: a.chars + b.chars, words: a.words + b.words, lines: a.lines + b.lines };
}

/** Half way between two rules of thumb: four characters a token, and 1.3 tokens a word. */
export function estimateTokens({ chars, words }: Pick<TextSize, "chars" | "words">): number {
  return Math.round((chars / 4 + words * 1.3) / 2);
}

/** Context sizes that models have. */
const contexts = [
  [200_000, "200K"],
  [500_000, "500K"],
  [1_000_000, "1M"],
  [2_000_000, "2M"],
  [4_000_000, "4M"],
] as const;

/** What a text that is always there may take of a context. */
const share = 0.1;

/** The smallest context that so many tokens suit; undefined where they suit none. */
export function smallestContext(tokens: number): string | undefined {
  return contexts.find(([size]) => tokens <= size * share)?.[1];
}
