import { pathOf, texts } from "../kernel/characters.ts";
import { isObject } from "../kernel/json.ts";
import type { Flag } from "./flag.ts";
import { poisonRules } from "./poison-rules.ts";

export { schemaFlags, schemaIssues } from "./schema-refs.ts";

interface CapabilityText {
  kind: string;
  name: string;
  /** The capability object as published. */
  declared: unknown;
}
const maxFlags = 20;
const maxMentions = 50;

/** Flags that a reader should check before trusting a capability. Paths are relative to the capability. */
export function scanCapability(capability: CapabilityText): Flag[] {
  const flags: Flag[] = [];
  const add = (flag: Flag) => {
    if (flags.length < maxFlags && !flags.some(({ rule, path }) => rule === flag.rule && path === flag.path)) {
      flags.push(flag);
    }
  };
  const mismatch = annotationMismatch(capability);
  if (mismatch !== undefined) add(mismatch);
  for (const { text, node } of texts(capability.declared)) {
    // Most strings are a plain word such as "type", which no rule can match.
    if (/^[A-Za-z0-9]{0,63}$/.test(text)) continue;
    const folded = text.normalize("NFKC").replace(/\s+/g, " ");
    const isIcon = text.startsWith("data:image/") && /^\/icons\/\d+\/src$/.test(pathOf(node, ""));
    for (const { rule, message, matches, exemptsIcons } of poisonRules) {
      if (!(isIcon && exemptsIcons) && matches(folded)) add({ rule, path: pathOf(node, ""), message });
    }
    if (flags.length === maxFlags) break;
  }
  return flags;
}

/** Verbs that the name of a read-only tool neither starts nor ends with (`users.delete`). */
const destructiveVerbs = new Set(
  "delete remove drop destroy purge erase wipe truncate uninstall revoke overwrite deprovision".split(" "),
);
/** Verbs that mean a write only as the first word: `get_update` and `list_create_options` read. */
const writingVerbs = new Set("create write update insert upsert rename upload modify edit".split(" "));

function annotationMismatch({ name, declared }: CapabilityText): Flag | undefined {
  const annotations = isObject(declared) ? declared["annotations"] : undefined;
  if (!isObject(annotations) || annotations["readOnlyHint"] !== true) return undefined;
  const words = identifierWords(name);
  const verbs = [words.at(0), words.at(-1)];
  const verb = verbs.find((word) => word !== undefined && destructiveVerbs.has(word)) ?? verbs[0];
  if (verb === undefined || !(destructiveVerbs.has(verb) || writingVerbs.has(verb))) return undefined;
  const message = `Declared read-only, but its name says "${verb}"`;
  return { rule: "annotation-mismatch", path: "/annotations/readOnlyHint", message };
}

/** Flags names of one server that differ only in case, because models and people confuse them. */
export function twinFlags(names: string[]): Map<string, Flag> {
  const flags = new Map<string, Flag>();
  for (const twins of Map.groupBy(new Set(names), (name) => name.toLowerCase()).values()) {
    if (twins.length < 2) continue;
    for (const name of twins) {
      const message = "Another name of this server differs only in case";
      flags.set(name, { rule: "case-twin", path: "/name", message });
    }
  }
  return flags;
}

/** Words in descriptions that may be another capability's name. Ordinary hyphenated words are included. */
export function mentionedNames(declared: unknown): string[] {
  const names = new Set<string>();
  for (const { text, isKey, node } of texts(declared)) {
    if (isKey || node.segment !== "description") continue;
    // Matches whole words first, then checks their shape: a pattern for the shape would rescan a long word from every
    // letter.
    for (const [word, quoted] of text.matchAll(/`([\w./-]{4,128})`|[\w-]+/g)) {
      const name = quoted ?? word;
      if (quoted === undefined && (name.length > 128 || name.length < 4 || !hasParts(name))) continue;
      names.add(name);
      if (names.size === maxMentions) return [...names];
    }
  }
  return [...names];
}

function hasParts(word: string): boolean {
  return /^[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)+$/.test(word) || /^[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*$/.test(word);
}

function identifierWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}
