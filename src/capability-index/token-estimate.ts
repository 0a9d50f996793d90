/** Size of a text, without a tokenizer. */
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

/** Size of the concatenation; each text must end with a line break. */
export function addSizes(a: TextSize, b: TextSize): TextSize {
  return { chars: a.chars + b.chars, words: a.words + b.words, lines: a.lines + b.lines };
}

/** Average of two rules of thumb: four characters per token, and 1.3 tokens per word. */
export function estimateTokens({ chars, words }: Pick<TextSize, "chars" | "words">): number {
  return Math.round((chars / 4 + words * 1.3) / 2);
}

/** Common context sizes of models. */
const contexts = [
  [8_000, "8K"],
  [32_000, "32K"],
  [128_000, "128K"],
  [200_000, "200K"],
  [500_000, "500K"],
  [1_000_000, "1M"],
  [2_000_000, "2M"],
  [4_000_000, "4M"],
] as const;

export const largestContext = "4M";

/** Share of a context that a permanently injected text may use. */
const share = 0.1;

/** The smallest suitable context; undefined if there is none. */
export function smallestContext(tokens: number): string | undefined {
  return contexts.find(([size]) => tokens <= size * share)?.[1];
}
