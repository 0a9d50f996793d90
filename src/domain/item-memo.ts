import type { SectionName } from "../schemas/index.ts";
import type { DescribedItem } from "./described-item.ts";

/**
 * Items that were valid before, with what was worked out about them. The same text under the same rules has the same
 * outcome, so a manifest in which one tool changed is work for one tool.
 */
export interface ItemMemo {
  get(key: string): DescribedItem | undefined;
  set(key: string, item: DescribedItem, size: number): void;
}

/** The whole text, so that nobody can make one item pass for another. */
export function memoKey(section: SectionName, item: unknown): string {
  return `${section} ${JSON.stringify(item)}`;
}

/** What an item takes in memory with its key, at most: a character is one byte or two. */
export function memoSize(key: string, { text, mentions, attributes, flags }: DescribedItem): number {
  const words = JSON.stringify([mentions, attributes, flags]);
  return 512 + 2 * (key.length + text.length + words.length);
}
