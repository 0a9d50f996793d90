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

/** Roughly what an item takes in memory, with its key: most are plain text, and their other parts are short. */
export function memoSize(key: string, { text, mentions, attributes, flags }: DescribedItem): number {
  return 512 + key.length + text.length + 32 * mentions.length + 64 * (attributes.length + flags.length);
}
