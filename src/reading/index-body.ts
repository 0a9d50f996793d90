import { addSizes, sizeOfText } from "../domain/token-estimate.ts";
import { type CountTokens, loadTokenizer } from "../domain/tokens.ts";
import type { Services } from "../services.ts";
import type { IndexText } from "../views/index-text.ts";

/** Part of an index: whole lines, and what to remember their tokens by where others are made of the same. */
export interface IndexBlock {
  text: string;
  key?: string;
}

/** About 20 ms of counting. */
const sliceCharacters = 65_536;

/** Blocks as one text. Their tokens add up; others get their turn while they are counted. */
export async function countedBody(services: Services, blocks: readonly IndexBlock[]): Promise<IndexText> {
  const count = await tokensOf(services);
  let tokens = 0;
  let size = sizeOfText("");
  let counted = 0;
  for (const block of blocks) {
    tokens += count(block, () => {
      counted += block.text.length;
    });
    size = addSizes(size, sizeOfText(block.text));
    if (counted > sliceCharacters) {
      counted = 0;
      await scheduler.wait(0);
    }
  }
  return { text: blocks.map(({ text }) => text).join(""), tokens, size };
}

/** Counts a block, or remembers what it came to. */
export async function tokensOf(services: Services): Promise<(block: IndexBlock, onCount?: () => void) => number> {
  const { counts } = services.indexes;
  const count: CountTokens = await loadTokenizer();
  return ({ text, key }, onCount) => {
    const known = key === undefined ? undefined : counts.get(key);
    if (known !== undefined) return known;
    onCount?.();
    const tokens = count(text);
    if (key !== undefined) counts.set(key, tokens);
    return tokens;
  };
}
