import { type JsonObject, ownMember } from "../../kernel/json.ts";

/** The member names of both objects, without duplicates. A member that is undefined counts as absent. */
export function memberNames(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => ownMember(before, name) !== undefined || ownMember(after, name) !== undefined);
}

interface Limits {
  nodes: number;
  depth: number;
}

/**
 * Assigns the same number to equal JSON values, regardless of the order of their members. Every value is read once, so
 * comparing all levels of two documents costs no more than reading them.
 */
export interface Values {
  id(value: unknown): number;
  same(before: unknown, after: unknown): boolean;
  /** True if the value contains `$ref`, `$dynamicRef` or `$recursiveRef` at any level. */
  hasReference(value: unknown): boolean;
  /** True after a value exceeded the limits; numbers assigned since then are meaningless. */
  isOverflowing(): boolean;
}

export const referenceKeywords = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

export function createValues(limits: Limits): Values {
  const numbers = new Map<string, number>();
  const known = new Map<object, number>();
  const withReference = new Set<number>();
  let nodes = 0;
  let overflowing = false;

  const numberOf = (text: string) => {
    const found = numbers.get(text);
    if (found !== undefined) return found;
    numbers.set(text, numbers.size);
    return numbers.size - 1;
  };

  const read = (value: unknown, depth: number): number => {
    if (typeof value !== "object" || value === null) {
      return numberOf(typeof value === "string" ? `s${value}` : `p${String(value)}`);
    }
    const found = known.get(value);
    if (found !== undefined) return found;
    nodes += 1 + (Array.isArray(value) ? value : Object.keys(value)).length;
    if (depth > limits.depth || nodes > limits.nodes) overflowing = true;
    if (overflowing) return -1;
    let referring = false;
    const readChild = (child: unknown) => {
      const id = read(child, depth + 1);
      referring ||= withReference.has(id);
      return id;
    };
    let text = "a";
    if (Array.isArray(value)) {
      for (const child of value) text += `${readChild(child)},`;
    } else {
      const members = Object.entries(value).filter(([, child]) => child !== undefined);
      text = "o";
      for (const [name, child] of members.sort(([a], [b]) => (a < b ? -1 : 1))) {
        text += `${numberOf(`s${name}`)}:${readChild(child)},`;
        referring ||= referenceKeywords.has(name);
      }
    }
    const id = numberOf(text);
    known.set(value, id);
    if (referring) withReference.add(id);
    return id;
  };

  const id = (value: unknown) => read(value, 0);
  return {
    id,
    same: (before, after) => id(before) === id(after),
    hasReference: (value) => withReference.has(id(value)),
    isOverflowing: () => overflowing,
  };
}
