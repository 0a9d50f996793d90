import { fail, type OpenApiDocument, type Place, pathOf } from "./document.ts";

/** A reference as it stands in a converted schema. */
export interface Reference {
  /** The definition it leads to. */
  key: string;
  /** Where it stands in the document. */
  place: Place;
  /** The converted schema that holds it. */
  node: Record<string, unknown>;
  /** It judges the same value as the definition it stands in. */
  inPlace: boolean;
  /** The definition is this reference and nothing around it. */
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
 * References that come back to the same value never end. Where there is nothing but references, the document means
 * nothing and is refused. Where a base lists its variants and each variant includes its base, the habit is common and
 * the meaning clear, but no validator can follow it: the step back is left open.
 */
export function cutCycles(source: OpenApiDocument, definitions: ReadonlyMap<string, Node>): void {
  const state = new Map<string, "open" | "done">();
  for (const start of definitions.keys()) {
    if (state.has(start)) continue;
    state.set(start, "open");
    const trail: Step[] = [{ key: start, next: 0 }];
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const reference = definitions.get(top.key)?.references[top.next];
      top.next += 1;
      if (reference === undefined) {
        state.set(top.key, "done");
        trail.pop();
        continue;
      }
      if (!reference.inPlace) continue;
      const { key } = reference;
      top.taken = reference;
      if (state.get(key) === "open") {
        if (isOnlyReferences(trail, key)) {
          fail(source, "this reference only leads back to itself", reference.place);
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

/** From the end, because most loops hold something else close to where they close. */
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
