import type { Steps } from "../../kernel/pace/pace.ts";
import { fail, type OpenApiDocument, type Place, pathOf } from "./document.ts";

/** A reference in a converted schema. */
export interface Reference {
  /** Key of the target definition. */
  key: string;
  /** Location of the reference in the document. */
  place: Place;
  /** The converted schema that contains the reference. */
  node: Record<string, unknown>;
  /** The reference applies to the same value as the definition that contains it. */
  inPlace: boolean;
  /** The reference is the root of the definition, not nested in another keyword. */
  isWhole: boolean;
}

interface Node {
  name: string;
  references: Reference[];
}

interface Step {
  key: string;
  next: number;
  taken?: Reference;
}

/**
 * Cuts cycles of references that apply to the same value, because no validator can follow them. A cycle of nothing but
 * references has no meaning: the document is rejected. A base that lists its variants, each of which includes the base,
 * is common and its meaning is clear: the reference that closes the cycle is replaced by an open schema.
 */
export function* cutCycles(source: OpenApiDocument, definitions: ReadonlyMap<string, Node>): Steps<void> {
  const state = new Map<string, "open" | "done">();
  for (const start of definitions.keys()) {
    if (state.has(start)) continue;
    state.set(start, "open");
    const trail: Step[] = [{ key: start, next: 0 }];
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const reference = definitions.get(top.key)?.references[top.next];
      top.next += 1;
      if (reference === undefined) {
        yield top.next;
        state.set(top.key, "done");
        trail.pop();
        continue;
      }
      if (!reference.inPlace) continue;
      const { key } = reference;
      top.taken = reference;
      if (state.get(key) === "open") {
        if (isOnlyReferences(trail, key)) {
          fail(source, "circular $ref that never reaches a schema", reference.place);
          return;
        }
        dropCyclicRef(source, reference, definitions.get(key)?.name ?? "");
      } else if (!state.has(key)) {
        state.set(key, "open");
        trail.push({ key, next: 0 });
      }
    }
  }
}

/** Searches from the end: most cycles contain a schema that is not just a reference, close to where they close. */
function isOnlyReferences(trail: readonly Step[], key: string): boolean {
  for (let at = trail.length - 1; at >= 0; at -= 1) {
    if (!trail[at]?.taken?.isWhole) return false;
    if (trail[at]?.key === key) return true;
  }
  return false;
}

function dropCyclicRef(source: OpenApiDocument, { node, place }: Reference, name: string): void {
  delete node.$ref;
  node.title ??= name;
  source.warnings.add(`${pathOf(place)} leads back to ${name} for the same value; it is left open there`);
}
