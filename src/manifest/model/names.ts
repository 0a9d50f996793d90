import { digestOfTextSync } from "../../kernel/digest.ts";

/** What tells an item apart from every other. */
export interface NamedItem {
  tenant: string;
  server: string;
  kind: string;
  name: string;
}

/** Which names an API takes. */
export interface NameRule {
  maxLength: number;
  /** False if names stay as they were published. */
  replaceOthers: boolean;
}

/**
 * A name for each item that the API takes and that no other item has. A name depends on the set of items, not on their
 * order: all items of one name get the name of their server in front, so that none can pass for another, and those that
 * still have one name get a part of a hash behind it.
 */
export function sendableNames(items: readonly NamedItem[], rule: NameRule): string[] {
  const spelled = items.map((item) => spellings(item, rule));
  const levels = items.map(() => 0);
  const nameAt = (index: number) => spelled[index]?.[levels[index] ?? 0] ?? "";
  for (let clashes = true; clashes; ) {
    clashes = false;
    for (const alike of Map.groupBy(items.keys(), nameAt).values()) {
      if (alike.length === 1 && isSafe(nameAt(alike[0] ?? 0))) continue;
      for (const index of alike) {
        const level = levels[index] ?? 0;
        if (level + 1 === spelled[index]?.length) continue;
        levels[index] = level + 1;
        clashes = true;
      }
    }
  }
  return numbered(
    items.map((_, index) => nameAt(index)),
    rule,
  );
}

/** An object with this member would not be what a client takes it for. */
function isSafe(name: string): boolean {
  return name !== "__proto__";
}

/** The names of an item, the next one taken where the one before is another item's too. */
function spellings(item: NamedItem, rule: NameRule): string[] {
  const { server, name } = item;
  const hash = digestOfTextSync(JSON.stringify([item.tenant, server, item.kind, name])).slice(7, 15);
  const shortened = (text: string) => (text.length <= rule.maxLength ? text : `${cut(text, rule, 9)}_${hash}`);
  const plain = rule.replaceOthers ? replaced(name) : name;
  // Nothing of the name is left: it would be every such item's.
  const own = plain === "" ? `tool_${hash}` : plain;
  const prefixed = `${rule.replaceOthers ? replaced(server) : server}__${own}`;
  return [shortened(own), shortened(prefixed), `${cut(prefixed, rule, 9)}_${hash}`];
}

/** Every run of other characters becomes one `_`, except at the ends. */
function replaced(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, (run, at: number) =>
    at === 0 || at + run.length === text.length ? "" : "_",
  );
}

function cut(text: string, { maxLength }: NameRule, room: number): string {
  return text.slice(0, maxLength - room);
}

/** Hashes of a few characters may agree, by chance or on purpose; then the order decides. */
function numbered(names: readonly string[], rule: NameRule): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let number = 2; taken.has(unique); number += 1) unique = `${cut(name, rule, 4)}_${number}`;
    taken.add(unique);
    return unique;
  });
}
