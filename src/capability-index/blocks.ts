import { analysisUnits, type Pace } from "../kernel/pace/pace.ts";
import { type CountTokens, loadTokenizer } from "../manifest/tokens.ts";
import type { IndexDeps } from "./deps.ts";
import type { IndexText, MeasuredText } from "./text.ts";
import { addSizes, sizeOfText } from "./token-estimate.ts";

/** Part of an index, in whole lines. `key` caches the token count of a block that other indexes may contain too. */
export interface IndexBlock {
  text: string;
  key?: string;
}

/** Adds up what blocks cost, without keeping them. */
export class BlockSum implements MeasuredText {
  tokens = 0;
  size = sizeOfText("");
  readonly #count: CountBlock;

  constructor(count: CountBlock) {
    this.#count = count;
  }

  add(block: IndexBlock): void {
    this.tokens += this.#count(block);
    this.size = addSizes(this.size, sizeOfText(block.text));
  }
}

/** Joins blocks and adds up their tokens. */
export async function countedBody(services: IndexDeps, blocks: readonly IndexBlock[], pace: Pace): Promise<IndexText> {
  const sum = new BlockSum(await tokensOf(services));
  for (const block of blocks) {
    sum.add(block);
    await pace.spend(analysisUnits(block.text.length));
  }
  return { text: blocks.map(({ text }) => text).join(""), tokens: sum.tokens, size: sum.size };
}

export type CountBlock = (block: IndexBlock) => number;

/** Returns a function that counts the tokens of a block, with a cache. */
export async function tokensOf(services: IndexDeps): Promise<CountBlock> {
  const { indexTexts } = services;
  const count: CountTokens = await loadTokenizer();
  return ({ text, key }) => {
    const known = key === undefined ? undefined : indexTexts.countOf(key);
    if (known !== undefined) return known;
    const tokens = count(text);
    if (key !== undefined) indexTexts.setCount(key, tokens);
    return tokens;
  };
}
