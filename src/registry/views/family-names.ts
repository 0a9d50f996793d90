import type { StoredCapability } from "../../manifest/stored.ts";
import { text, texts } from "./fields.ts";

type Item = Pick<StoredCapability, "declared">;

export interface FamilyName {
  name: string;
  /** True if the publisher declared the family; false if its items only share a scheme and a MIME type. */
  isDeclared: boolean;
}

/**
 * The family of each resource and template. A template with `patterns` declares a family under its own name. Every other
 * item belongs to the family of its URI scheme; where the items of a scheme have several MIME types, each type is a
 * family: `https text/html`, `https application/json`. A name that is declared is never given to other items. The names
 * do not depend on the order of the items, but for declared families that share a name.
 */
export function familyNames<T extends Item>(items: readonly T[]): Map<T, FamilyName> {
  const names = new Map<T, FamilyName>();
  const taken = new Set<string>();
  const declared = Map.groupBy(
    items.filter(({ declared }) => texts(declared.patterns).length > 0),
    (item) => JSON.stringify([declaredName(item), text(item.declared.mimeType)]),
  );
  // Two declarations of one name are one family if they agree on the MIME type.
  for (const [first, ...others] of declared.values()) {
    if (first === undefined) continue;
    const name = freeName(declaredName(first), text(first.declared.mimeType), taken);
    for (const item of [first, ...others]) names.set(item, { name, isDeclared: true });
    taken.add(name);
  }
  const plain = items.filter((item) => !names.has(item));
  for (const [scheme, ofScheme] of Map.groupBy(plain, ({ declared }) => schemeOf(uriOf(declared)))) {
    const byType = Map.groupBy(ofScheme, ({ declared }) => text(declared.mimeType));
    for (const mimeType of [...byType.keys()].sort()) {
      const isOnly = byType.size === 1 || mimeType === "";
      const wanted = isOnly ? scheme : `${scheme} ${mimeType}`;
      const name = freeName(wanted, isOnly ? mimeType || "other" : "", taken);
      for (const item of byType.get(mimeType) ?? []) names.set(item, { name, isDeclared: false });
      taken.add(name);
    }
  }
  return names;
}

function declaredName({ declared }: Item): string {
  return text(declared.name) || schemeOf(uriOf(declared));
}

function uriOf(declared: Record<string, unknown>): string {
  return text(declared.uri) || text(declared.uriTemplate) || texts(declared.patterns)[0] || "";
}

function schemeOf(pattern: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(pattern)?.[1]?.toLowerCase() ?? "other";
}

/** The name itself, else with its MIME type, else numbered. */
function freeName(name: string, mimeType: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const typed = mimeType === "" ? name : `${name} ${mimeType}`;
  let free = typed;
  for (let number = 2; taken.has(free); number += 1) free = `${typed} ${number}`;
  return free;
}
