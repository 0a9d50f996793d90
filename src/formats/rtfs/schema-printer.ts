import { pointer } from "../../domain/issue.ts";
import { printName } from "./string.ts";
import { isObject } from "./values.ts";

/** Where a value is printed, and where to say what could not be. */
export interface Place {
  /** Blanks before the line that the value starts on. */
  indent: string;
  /** Brackets that may still be opened. */
  room: number;
  /** A pointer from the list of capabilities. */
  path: string;
  lose: (path: string) => void;
}

export function inside(place: Place, segment: string | number): Place {
  const path = pointer(place.path, segment);
  return { ...place, indent: `${place.indent}  `, room: place.room - 1, path };
}

/** `{` … `}` around lines that are already indented. */
export function block(open: string, lines: readonly string[], close: string, { indent }: Place): string {
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join("\n")}\n${indent}${close}`;
}

const scalars: Record<string, string> = {
  string: ":string",
  integer: ":int",
  number: ":float",
  boolean: ":bool",
  null: ":nil",
};

/** JSON Schema → RTFS type notation. Every keyword it has no words for (`enum`, `format`, `description` …) is a loss. */
export function printSchema(schema: unknown, place: Place): string {
  if (!isObject(schema) || place.room < 2) {
    if (schema !== true) place.lose(place.path);
    return ":any";
  }
  const { type, properties, items, required, ...others } = schema;
  for (const key of Object.keys(others)) place.lose(pointer(place.path, key));
  const unused = (entries: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(entries)) if (value !== undefined) place.lose(pointer(place.path, key));
  };
  if (type === "object" || (type === undefined && isObject(properties))) {
    unused({ items });
    // A schema that lists properties without a type admits more than objects.
    if (type === undefined) place.lose(pointer(place.path, "type"));
    if (isObject(properties)) return printFields(properties, required, place);
    unused({ properties, required });
    return ":map";
  }
  unused({ properties, required });
  if (type === "array") {
    if (items === undefined) return ":vector";
    return `[:vector ${printSchema(items, { ...inside(place, "items"), indent: place.indent })}]`;
  }
  unused({ items });
  if (type === undefined) return ":any";
  const scalar = typeof type === "string" && Object.hasOwn(scalars, type) ? scalars[type] : undefined;
  if (scalar === undefined) unused({ type });
  return scalar ?? ":any";
}

function printFields(properties: Record<string, unknown>, required: unknown, place: Place): string {
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  const lines = Object.entries(properties).map(([name, schema]) => {
    const field = inside({ ...inside(place, "properties"), indent: place.indent, room: place.room }, name);
    const optional = needed.delete(name) ? "" : " ;; optional";
    return `${field.indent}${printName(name)} ${printSchema(schema, field)}${optional}`;
  });
  if (needed.size > 0) place.lose(pointer(place.path, "required"));
  return block("{", lines, "}", place);
}
