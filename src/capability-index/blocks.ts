import { type CountTokens, loadTokenizer } from "../manifest/tokens.ts";
import type { IndexDeps } from "./deps.ts";
import type { IndexText, MeasuredText } from "./text.ts";
import { addSizes, sizeOfText } from "./token-estimate.ts";

/** Part of an index, in whole lines. `key` caches the token count of a block that other indexes may contain too. */
export interface IndexBlock {
  text: string;
  key?: string;
}

/** Takes about 20 ms to count. */
const sliceCharacters = 65_536;

/** Adds up what blocks cost, without keeping them. */
export class BlockSum implements MeasuredText {
  tokens = 0;
  size = sizeOfText("");
  readonly #count: CountBlock;
  #counted = 0;

  constructor(count: CountBlock) {
    this.#count = count;
  }

  add(block: IndexBlock): void {
    this.tokens += this.#count(block, () => {
      this.#counted += block.text.length;
    });
    this.size = addSizes(this.size, sizeOfText(block.text));
  }

  /** A pause between slices, so that other requests can run; undefined if none is due. */
  pause(): Promise<void> | undefined {
    if (this.#counted <= sliceCharacters) return undefined;
    this.#counted = 0;
    return scheduler.wait(0);
  }
}

/** Joins blocks and adds up their tokens. */
export async function countedBody(services: IndexDeps, blocks: readonly IndexBlock[]): Promise<IndexText> {
  const sum = new BlockSum(await tokensOf(services));
  for (const block of blocks) {
    sum.add(block);
    const pause = sum.pause();
    if (pause !== undefined) await pause;
  }
  return { text: blocks.map(({ text }) => text).join(""), tokens: sum.tokens, size: sum.size };
}

/** The tokens of a block. `onCount` is called if they were not in the cache. */
export type CountBlock = (block: IndexBlock, onCount?: () => void) => number;

/** Returns a function that counts the tokens of a block, with a cache. */
export async function tokensOf(services: IndexDeps): Promise<CountBlock> {
  const { indexTexts } = services;
  const count: CountTokens = await loadTokenizer();
  return ({ text, key }, onCount) => {
    const known = key === undefined ? undefined : indexTexts.countOf(key);
    if (known !== undefined) return known;
    onCount?.();
    const tokens = count(text);
    if (key !== undefined) indexTexts.setCount(key, tokens);
    return tokens;
  };
}
