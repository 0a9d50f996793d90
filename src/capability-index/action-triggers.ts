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
const maxVerbsOfItem = 50;
const maxVerbLength = 64;

/** Kinds whose keys are names that may contain a verb; URIs do not. */
const named = new Set(["tool", "operation", "prompt"]);

/**
 * Maps verbs to the elements that perform them: declared triggers first, in the publisher's order, then verbs that items
 * declare, then verbs found in names. Verbs are sorted alphabetically, with at most ten elements each. A declared trigger
 * without an element in the index is dropped: the element may be disabled.
 */
export function actionTriggers(
  elements: readonly TriggerElement[],
  declared: readonly { server: string; triggers: unknown }[] = [],
): ActionTriggers {
  const collector = new TriggerCollector();
  const byServer = declared.length === 0 ? undefined : Map.groupBy(elements, ({ server }) => server);
  for (const { server, triggers } of declared) collector.addDeclared(triggers, byServer?.get(server) ?? []);
  for (const element of elements) collector.addElement(element);
  return collector.triggers();
}

/** The same, for elements that come one by one: keeps only what the result can contain. */
export class TriggerCollector {
  readonly #declared = new VerbElements();
  readonly #ofItems = new VerbElements();
  readonly #inNames = new VerbElements();

  /** The triggers that a server declares, with the elements of that server. */
  addDeclared(triggers: unknown, elements: readonly Pick<TriggerElement, "label" | "key" | "id">[]): void {
    const names = namesOf(elements);
    for (const [verb, wanted] of Object.entries(isObject(triggers) ? triggers : {})) {
      const spelled = spelling(verb);
      if (spelled === undefined || !Array.isArray(wanted)) continue;
      for (const name of wanted) {
        const label = typeof name === "string" ? names.get(name) : undefined;
        if (label !== undefined) this.#declared.add(spelled, label);
      }
    }
  }

  addElement({ label, kind, key, declared }: Pick<TriggerElement, "label" | "kind" | "key" | "declared">): void {
    for (const verb of declaredVerbs(declared)) this.#ofItems.add(verb, label);
    const verb = named.has(kind) ? verbOfName(key) : undefined;
    if (verb !== undefined) this.#inNames.add(verb, label);
  }

  triggers(): ActionTriggers {
    const all = new VerbElements();
    for (const some of [this.#declared, this.#ofItems, this.#inNames]) {
      for (const [verb, labels] of some.found) for (const label of labels) all.add(verb, label);
    }
    return new Map([...all.found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([verb, labels]) => [verb, [...labels]]));
  }
}

/** The first verbs, each with its first elements. */
class VerbElements {
  readonly found = new Map<string, Set<string>>();

  add(verb: string, label: string): void {
    const labels = this.found.get(verb);
    if (labels !== undefined) {
      if (labels.size < maxElements) labels.add(label);
    } else if (this.found.size < maxVerbs) this.found.set(verb, new Set([label]));
  }
}

/** The verbs that an item declares, as a string or an array. */
export function declaredVerbs(value: unknown): string[] {
  const listed = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  const verbs = listed.flatMap((verb) => (typeof verb === "string" ? (spelling(verb) ?? []) : []));
  return [...new Set(verbs)].slice(0, maxVerbsOfItem);
}

/** Label by key or id, as publishers may use either; the key wins. */
function namesOf(elements: readonly Pick<TriggerElement, "label" | "key" | "id">[]): Map<string, string> {
  return new Map([
    ...elements.map(({ id, label }) => [id, label] as const),
    ...elements.toReversed().map(({ key, label }) => [key, label] as const),
  ]);
}

function spelling(verb: string): string | undefined {
  const text = verb.trim().toLowerCase();
  return text === "" || text.length > maxVerbLength ? undefined : text;
}
