import { pathOf, texts } from "../kernel/characters.ts";
import { isObject } from "../kernel/json.ts";
import { type Flag, severityOf } from "./flag.ts";
import { findPoison } from "./poison/find.ts";
import { identifierWords } from "./poison/readings.ts";

export { schemaFlags, schemaIssues } from "./schema-refs.ts";

interface CapabilityText {
  kind: string;
  name: string;
  /** The capability object as published. */
  declared: unknown;
}
/** Low flags leave room for high ones: text that raises many of them must not hide what follows. */
const maxFlags = 20;
const maxLowFlags = 10;
const maxMentions = 50;

/** Most strings are a short name such as "type" or "user_id", which no rule can match. */
const ordinaryWord = /^[A-Za-z0-9_-]{0,15}$/;

/** Takes the last place: what is not listed must not be taken for accepted when the listed flags are. */
const moreFlags: Flag = { rule: "more-flags", path: "", message: "The text has more flags than are listed" };

/** Flags that a reader should check before trusting a capability. Paths are relative to the capability. */
export function scanCapability(capability: CapabilityText): Flag[] {
  const flags: Flag[] = [];
  let low = 0;
  const add = (flag: Flag) => {
    if (flags.length === maxFlags || flags.some(({ rule, path }) => rule === flag.rule && path === flag.path)) return;
    if (severityOf(flag.rule) === "low" && ++low > maxLowFlags) return;
    flags.push(flag);
  };
  const mismatch = annotationMismatch(capability);
  if (mismatch !== undefined) add(mismatch);
  for (const { text, node } of texts(capability.declared)) {
    if (ordinaryWord.test(text) && !text.includes("id_")) continue;
    const isIcon = text.startsWith("data:image/") && /^\/icons\/\d+\/src$/.test(pathOf(node, ""));
    for (const { rule, message } of findPoison(text, isIcon)) add({ rule, path: pathOf(node, ""), message });
    if (flags.length === maxFlags) break;
  }
  return flags.length < maxFlags ? flags : [...flags.slice(0, -1), moreFlags];
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

/** A word in a description that may be another capability's name. */
export interface Mention {
  name: string;
  /** The sentence says how or when to use what it names. */
  steers: boolean;
}

/** Names in descriptions, each once. Ordinary hyphenated words are included; the capability's own parameters are not. */
export function mentionedNames(declared: unknown): Mention[] {
  const mentions = new Map<string, Mention>();
  const parameters = new Set<string>();
  for (const { text, isKey, node } of texts(declared)) {
    if (isKey) parameters.add(text);
    if (isKey || node.segment !== "description") continue;
    // Matches whole words first, then checks their shape: a pattern for the shape would rescan a long word from every
    // letter.
    for (const { 0: word, 1: quoted, index } of text.matchAll(/`([\w./-]{4,128})`|[\w-]+/g)) {
      const name = quoted ?? word;
      if (quoted === undefined && (name.length > 128 || name.length < 4 || !hasParts(name))) continue;
      const known = mentions.get(name);
      if (known === undefined && mentions.size === maxMentions) break;
      if (known?.steers !== true) mentions.set(name, { name, steers: steering.test(sentenceAt(text, index)) });
    }
  }
  return [...mentions.values()].filter(({ name }) => !parameters.has(name));
}

const steering =
  /\b(?:when|whenever|if|before|after|instead|rather than|always|never|must|do not|don['’]t|ignore|overrides?|replaces?|supersedes?|deprecated|obsolete|broken|unsafe|insecure|prefer|better than|call this|use this)\b|[^\x20-\x7e\s]{4}/i;

/** The sentence around a position, as far as it is near. */
function sentenceAt(text: string, index: number): string {
  const before = text.slice(Math.max(0, index - 160), index).split(/[.!?]\s|\n\n/);
  const after = text.slice(index, index + 160).split(/[.!?]\s|\n\n/);
  return `${before.at(-1)}${after[0]}`;
}

function hasParts(word: string): boolean {
  return /^[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)+$/.test(word) || /^[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*$/.test(word);
}
