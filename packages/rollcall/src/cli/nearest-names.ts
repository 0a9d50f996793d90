import { editDistance } from "../../../../src/kernel/nearest.ts";

/** At most three names that the given one may have been meant for, the nearest first. */
export function nearestNames(name: string, candidates: readonly string[]): string[] {
  const most = Math.max(2, Math.ceil(name.length / 2));
  return candidates
    .map((candidate) => {
      const isPart = candidate.toLowerCase().includes(name.toLowerCase());
      return { candidate, edits: isPart ? 1 : editDistance(name.toLowerCase(), candidate.toLowerCase(), most) };
    })
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
