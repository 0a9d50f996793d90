import type { z } from "zod";

/** A place in a document whose members are known: an item, or an object inside it. */
export interface Place {
  /** By each spelling in which the member is read. */
  members: ReadonlyMap<string, Member>;
}

export interface Member {
  /** The registry's spelling. */
  name: string;
  /** What is known inside the member; for a list, inside each of its elements. */
  inside?: Place;
}

interface PlaceOptions {
  /** Members whose insides are known. The insides of all others are kept as they are. */
  lookInto: readonly string[];
  /** Members that have no schema here, but a meaning elsewhere: nothing to warn of. */
  alsoKnown?: readonly string[];
}

/** snake_case, as the views write the names of members. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The place that an object schema describes. Members are read in the schema's spelling and in snake_case. */
export function placeOf(schema: z.ZodType, options: PlaceOptions): Place {
  const shape = shapeOf(schema) ?? {};
  const known = Object.entries(shape).map(([name, inner]): [string, Member] => {
    const looked = options.lookInto.includes(name) && shapeOf(inner) !== undefined;
    return [name, { name, inside: looked ? placeOf(inner, { lookInto: options.lookInto }) : undefined }];
  });
  const others = (options.alsoKnown ?? []).map((name): [string, Member] => [name, { name }]);
  const declared = [...others, ...known];
  // A schema may have a member in both spellings; then each is a member of its own.
  const respelt = declared.map(([name, member]): [string, Member] => [snakeCase(name), member]);
  return { members: new Map([...respelt, ...declared]) };
}

/** The members of the object that a schema describes, looking through optional, default and list. */
function shapeOf(schema: z.ZodType): Record<string, z.ZodType> | undefined {
  const { def } = schema as unknown as { def: SchemaParts };
  if (def.shape !== undefined) return def.shape;
  const inner = def.innerType ?? def.element;
  return inner && shapeOf(inner);
}

interface SchemaParts {
  shape?: Record<string, z.ZodType>;
  innerType?: z.ZodType;
  element?: z.ZodType;
}
