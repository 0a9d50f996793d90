/** Equal but for case, separators and number: `Resource_Template` and `resourceTemplates`. */
function isSameWord(a: string, b: string): boolean {
  return a === b || bare(a) === bare(b);
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, "").replace(/s$/, "");
}

/**
 * The candidate that a misspelt name most likely means: equal but for case, `_`, `-` and number, or one edit away, two
 * from eight letters on. undefined if none is that close.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const most = name.length >= 8 ? 2 : 1;
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = isSameWord(name, candidate) ? 0 : editDistance(name.toLowerCase(), candidate.toLowerCase(), most);
    if (edits <= most && (best === undefined || edits < best.edits)) best = { candidate, edits };
  }
  return best?.candidate;
}

/**
 * Letters to insert, delete, replace or swap with their neighbour, to make `b` of `a`. Any number above `most` means
 * "too many".
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap && row > 1 && column > 1) edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      next.push(edits);
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? most + 1;
}
