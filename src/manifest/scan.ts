import { characterIssue, pathSegment } from "../kernel/characters.ts";
import { type Flag, type Issue, pointer } from "../kernel/issue.ts";
import { poisonRules } from "./poison-rules.ts";

export { schemaFlags, schemaIssues } from "./schema-refs.ts";

export interface CapabilityText {
  kind: string;
  name: string;
  /** The capability object as published. */
  declared: unknown;
}

const MAX_ISSUES = 100;
const MAX_FLAGS = 20;
const MAX_MENTIONS = 50;

/** Characters that no string or key may hold, at any depth. */
export function characterIssues(value: unknown, path: string): Issue[] {
  const issues: Issue[] = [];
  for (const { text, isKey, node } of texts(value)) {
    const found = characterIssue(text);
    if (found === undefined) continue;
    const where = isKey ? "the key" : "the text";
    const message = `${found.name} at position ${found.index} of ${where} is invisible or reserved; remove it`;
    issues.push({ path: pathOf(node, path), rule: "invisible-character", message });
    if (issues.length === MAX_ISSUES) break;
  }
  return issues;
}

/** What a reader should look at before trusting a capability. Paths are relative to it. */
export function scanCapability(capability: CapabilityText): Flag[] {
  const flags: Flag[] = [];
  const add = (flag: Flag) => {
    if (flags.length < MAX_FLAGS && !flags.some(({ rule, path }) => rule === flag.rule && path === flag.path)) {
      flags.push(flag);
    }
  };
  const mismatch = annotationMismatch(capability);
  if (mismatch !== undefined) add(mismatch);
  for (const { text, node } of texts(capability.declared)) {
    // Most strings are a plain word such as "type", in which no rule can find anything.
    if (/^[A-Za-z0-9]{0,63}$/.test(text)) continue;
    const folded = text.normalize("NFKC").replace(/\s+/g, " ");
    const isIcon = text.startsWith("data:image/") && /^\/icons\/\d+\/src$/.test(pathOf(node, ""));
    for (const { rule, message, matches, exemptsIcons } of poisonRules) {
      if (!(isIcon && exemptsIcons) && matches(folded)) add({ rule, path: pathOf(node, ""), message });
    }
    if (flags.length === MAX_FLAGS) break;
  }
  return flags;
}

/** Verbs that no tool which only reads carries in front, or at the end (`users.delete`). */
const DESTRUCTIVE = new Set(
  "delete remove drop destroy purge erase wipe truncate uninstall revoke overwrite deprovision".split(" "),
);
/** Writes only where the verb leads: `get_update` and `list_create_options` read. */
const WRITING = new Set("create write update insert upsert rename upload modify edit".split(" "));

function annotationMismatch({ name, declared }: CapabilityText): Flag | undefined {
  const annotations = isRecord(declared) ? declared["annotations"] : undefined;
  if (!isRecord(annotations) || annotations["readOnlyHint"] !== true) return undefined;
  const words = identifierWords(name);
  const verbs = [words.at(0), words.at(-1)];
  const verb = verbs.find((word) => word !== undefined && DESTRUCTIVE.has(word)) ?? verbs[0];
  if (verb === undefined || !(DESTRUCTIVE.has(verb) || WRITING.has(verb))) return undefined;
  const message = `Declared read-only, but its name says "${verb}"`;
  return { rule: "annotation-mismatch", path: "/annotations/readOnlyHint", message };
}

/** Names of one server that differ only in case: a model, or a person, takes one for the other. */
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

/** Words in descriptions that may be another capability's name. Ordinary hyphenated words are among them. */
export function mentionedNames(declared: unknown): string[] {
  const names = new Set<string>();
  for (const { text, isKey, node } of texts(declared)) {
    if (isKey || node.segment !== "description") continue;
    // Whole words first, then their shape: a pattern for the shape would look at a long word once per letter.
    for (const [word, quoted] of text.matchAll(/`([\w./-]{4,128})`|[\w-]+/g)) {
      const name = quoted ?? word;
      if (quoted === undefined && (name.length > 128 || name.length < 4 || !hasParts(name))) continue;
      names.add(name);
      if (names.size === MAX_MENTIONS) return [...names];
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

/** A value with the way back to the root, so that a path costs nothing until something is found there. */
interface Node {
  value: unknown;
  parent: Node | undefined;
  segment: string | number;
}

/** Every string and every key of a JSON value, in document order. A key belongs to the node of its value. */
function* texts(root: unknown): Generator<{ text: string; isKey: boolean; node: Node }> {
  const todo: Node[] = [{ value: root, parent: undefined, segment: 0 }];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    const { value, segment } = node;
    if (typeof segment === "string") yield { text: segment, isKey: true, node };
    if (typeof value === "string") yield { text: value, isKey: false, node };
    else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1) {
        todo.push({ value: value[index], parent: node, segment: index });
      }
    } else if (isRecord(value)) {
      for (const key of Object.keys(value).reverse()) todo.push({ value: value[key], parent: node, segment: key });
    }
  }
}

function pathOf(node: Node, root: string): string {
  const segments: (string | number)[] = [];
  for (let at = node; at.parent !== undefined; at = at.parent) segments.push(at.segment);
  return segments
    .reverse()
    .reduce<string>(
      (path, segment) => pointer(path, typeof segment === "string" ? pathSegment(segment) : segment),
      root,
    );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
