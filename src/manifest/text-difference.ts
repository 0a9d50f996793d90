/** What changed between two texts or JSON values, for people: in the console and in a terminal. */

export interface Part {
  kind: "same" | "gone" | "new";
  text: string;
}

/** Longest common subsequence of words. Texts that are too long to compare are shown whole. */
export function wordDifference(before: string, after: string, mostWords = 2_000): Part[] {
  const [a, b] = [split(before), split(after)];
  if (a.length > mostWords || b.length > mostWords)
    return [
      { kind: "gone", text: before },
      { kind: "new", text: after },
    ];
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let row = a.length - 1; row >= 0; row -= 1) {
    for (let column = b.length - 1; column >= 0; column -= 1) {
      const cell =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      (lengths[row] as Uint16Array)[column] = cell;
    }
  }
  const parts: Part[] = [];
  const add = (kind: Part["kind"], text: string) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  let [row, column] = [0, 0];
  while (row < a.length || column < b.length) {
    if (row < a.length && column < b.length && a[row] === b[column]) {
      add("same", a[row] ?? "");
      row += 1;
      column += 1;
    } else if (column >= b.length || (row < a.length && at(row + 1, column) >= at(row, column + 1))) {
      add("gone", a[row] ?? "");
      row += 1;
    } else {
      add("new", b[column] ?? "");
      column += 1;
    }
  }
  return parts;
}

function split(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

export interface LeafDifference {
  /** JSON pointer. */
  path: string;
  before?: unknown;
  after?: unknown;
}

/** Leaves in which two JSON values differ; lists are compared as wholes unless their lengths are equal. */
export function leafDifferences(before: unknown, after: unknown, path = ""): LeafDifference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const isPair = isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after);
  if (!isPair) return [{ path, before, after }];
  if (Array.isArray(before) && before.length !== after["length"]) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return leafDifferences(own(before, key), own(after, key), at);
  });
}

type Container = Record<string, unknown>;
const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;
const own = (value: Container, key: string) => (Object.hasOwn(value, key) ? value[key] : undefined);
