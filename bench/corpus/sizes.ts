import { UsageError } from "../../scripts/command.ts";

/** "1000,10000" → sizes, each larger than the one before. */
export function readSizes(option: string, text: string): number[] {
  const sizes = text.split(",").map(Number);
  const rising = sizes.every((size, index) => Number.isInteger(size) && size > (sizes[index - 1] ?? 0));
  if (!rising) throw new UsageError(`${option} takes whole numbers from the smallest, separated by commas.`);
  return sizes;
}

export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new UsageError(`${option} takes a whole number above 0.`);
  return count;
}
