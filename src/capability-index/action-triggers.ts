import { isObject } from "../kernel/json.ts";
import { verbOfName } from "./verbs.ts";

/** The fields of an element that triggers are computed from. */
export interface TriggerElement {
  /** Name of the element in the index. */
  label: string;
  server: string;
  kind: string;
  /** Name, URI, URI template or generator type. */
  key: string;
  id: string;
  /** The triggers that the item declares, not validated. */
  declared?: unknown;
}

/** Verb → labels of elements. */
export type ActionTriggers = Map<string, string[]>;

const maxElements = 10;
const maxVerbs = 500;
const maxVerbLength = 64;

/** Kinds whose keys are names that may contain a verb; URIs do not. */
const named = new Set(["tool", "operation", "prompt"]);

/**
 * Maps verbs to the elements that perform them: declared triggers first, in the publisher's order, then verbs found in
 * names. Verbs are sorted alphabetically, with at most ten elements each. A declared trigger without an element in the
 * index is dropped: the element may be disabled.
 */
export function actionTriggers(
  elements: readonly TriggerElement[],
  declared: readonly { server: string; triggers: unknown }[] = [],
): ActionTriggers {
  const found = new Map<string, Set<string>>();
  const add = (verb: string, label: string) => {
    let labels = found.get(verb);
    if (labels === undefined) {
      if (found.size >= maxVerbs) return;
      labels = new Set();
      found.set(verb, labels);
    }
    if (labels.size < maxElements) labels.add(label);
  };

  const byServer = declared.length === 0 ? undefined : Map.groupBy(elements, ({ server }) => server);
  for (const { server, triggers } of declared) {
    const names = namesOf(byServer?.get(server) ?? []);
    for (const [verb, wanted] of Object.entries(isObject(triggers) ? triggers : {})) {
      const spelled = spelling(verb);
      if (spelled === undefined || !Array.isArray(wanted)) continue;
      for (const name of wanted) {
        const label = typeof name === "string" ? names.get(name) : undefined;
        if (label !== undefined) add(spelled, label);
      }
    }
  }
  for (const { label, declared: own } of elements) for (const verb of declaredVerbs(own)) add(verb, label);
  for (const { label, kind, key } of elements) {
    const verb = named.has(kind) ? verbOfName(key) : undefined;
    if (verb !== undefined) add(verb, label);
  }
  const verbs = [...found].filter(([, labels]) => labels.size > 0);
  return new Map(verbs.sort(([a], [b]) => (a < b ? -1 : 1)).map(([verb, labels]) => [verb, [...labels]]));
}

/** The verbs that an item declares, as a string or an array. */
export function declaredVerbs(value: unknown): string[] {
  const listed = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  const verbs = listed.flatMap((verb) => (typeof verb === "string" ? (spelling(verb) ?? []) : []));
  return [...new Set(verbs)].slice(0, maxElements);
}

/** Label by key or id, as publishers may use either; the key wins. */
function namesOf(elements: readonly TriggerElement[]): Map<string, string> {
  return new Map([
    ...elements.map(({ id, label }) => [id, label] as const),
    ...elements.toReversed().map(({ key, label }) => [key, label] as const),
  ]);
}

function spelling(verb: string): string | undefined {
  const text = verb.trim().toLowerCase();
  return text === "" || text.length > maxVerbLength ? undefined : text;
}
