import { pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { type RtfsCapability, spellings } from "./capability.ts";
import { migrate } from "./migrate.ts";
import { maxDepth, readForms } from "./read-forms.ts";
import { printName, printString } from "./string.ts";

/** Position of the value being printed, and the callback for values that RTFS cannot express. */
interface Place {
  /** Indentation of the line on which the value starts. */
  indent: string;
  /** Nesting levels left. */
  levelsLeft: number;
  /** JSON pointer, relative to the list of capabilities. */
  path: string;
  reportLoss: (path: string) => void;
}

function inside(place: Place, segment: string | number): Place {
  const path = pointer(place.path, segment);
  return { ...place, indent: `${place.indent}  `, levelsLeft: place.levelsLeft - 1, path };
}

/** Puts brackets around lines that are already indented. */
function block(open: string, lines: readonly string[], close: string, { indent }: Place): string {
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join("\n")}\n${indent}${close}`;
}

const scalars: Record<string, string> = {
  string: ":string",
  integer: ":int",
  number: ":float",
  boolean: ":bool",
  null: ":nil",
};

/** JSON Schema → RTFS type notation. Keywords without an RTFS equivalent (`enum`, `format` …) are losses. */
function printSchema(schema: unknown, place: Place): string {
  if (!isObject(schema) || place.levelsLeft < 2) {
    if (schema !== true) place.reportLoss(place.path);
    return ":any";
  }
  const { type, properties, items, required, ...others } = schema;
  for (const key of Object.keys(others)) place.reportLoss(pointer(place.path, key));
  const unused = (entries: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(entries))
      if (value !== undefined) place.reportLoss(pointer(place.path, key));
  };
  if (type === "object" || (type === undefined && isObject(properties))) {
    unused({ items });
    // A schema with properties but no type also accepts values that are not objects; the printed map does not.
    if (type === undefined) place.reportLoss(pointer(place.path, "type"));
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
    const field = inside({ ...inside(place, "properties"), indent: place.indent, levelsLeft: place.levelsLeft }, name);
    const optional = needed.delete(name) ? "" : " ;; optional";
    return `${field.indent}${printName(name)} ${printSchema(schema, field)}${optional}`;
  });
  if (needed.size > 0) place.reportLoss(pointer(place.path, "required"));
  return block("{", lines, "}", place);
}

export interface Printed {
  text: string;
  /** JSON pointers, relative to the list of capabilities, to values that RTFS cannot express. */
  losses: string[];
}

/** Prints capabilities in the hierarchical layout. The text reads back as the same capabilities, except for losses. */
export function printRtfs(capabilities: readonly RtfsCapability[]): Printed {
  const losses: string[] = [];
  const text = capabilities
    .map((capability, index) => {
      const lose = (path: string) => losses.push(path);
      return printCapability(capability, { indent: "", levelsLeft: maxDepth, path: `/${index}`, reportLoss: lose });
    })
    .join("\n");
  return { text, losses };
}

const rtfsSpelling = new Map([
  ["inputSchema", "input-schema"],
  ["outputSchema", "output-schema"],
]);

function printCapability({ id, name, ...given }: RtfsCapability, place: Place): string {
  const { fields } = migrate(given);
  const { version, description, provider, permissions, effects, metadata, ...rest } = fields;
  const { inputSchema, outputSchema, implementation, ...others } = rest;
  const ordered = { name, version, description, provider, permissions, effects, metadata };
  const lines = Object.entries({ ...ordered, ...others, inputSchema, outputSchema, implementation }).flatMap(
    ([key, value]) => {
      if (value === undefined) return [];
      const field = inside(place, key);
      // RTFS spellings such as `input-schema` are read as `inputSchema` and would collide with it.
      if (spellings.has(key)) {
        field.reportLoss(field.path);
        return [];
      }
      return [`${field.indent}${printName(rtfsSpelling.get(key) ?? key)}${printField(key, value, field)}`];
    },
  );
  return `(capability ${[printString(id), ...lines].join("\n")})\n`;
}

function printField(key: string, value: unknown, place: Place): string {
  switch (key) {
    case "permissions":
    case "effects":
      return ` ${printNames(value, place)}`;
    case "inputSchema":
    case "outputSchema":
      return ` ${printSchema(value, place)}`;
    case "implementation":
      if (typeof value !== "string") return ` ${printValue(value, place)}`;
      return `\n${place.indent}  ${printImplementation(value)}`;
    default:
      return ` ${printValue(value, place)}`;
  }
}

function printNames(value: unknown, place: Place): string {
  if (!Array.isArray(value)) return printValue(value, place);
  return `[${value.map((name) => (typeof name === "string" ? printName(name) : printValue(name, place))).join(" ")}]`;
}

/** Prints the text as code if it is exactly one form other than a string or nil, and otherwise as a string. */
function printImplementation(text: string): string {
  const forms = readForms(text, maxDepth - 1);
  const [form, second] = forms.ok ? forms.value : [];
  const isWhole = form !== undefined && second === undefined && form.start === 0 && form.end === text.length;
  return isWhole && form.kind !== "string" && form.kind !== "nil" ? text : printString(text);
}

function printValue(value: unknown, place: Place): string {
  if (typeof value === "string") return printString(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" && Number.isFinite(value)) return printNumber(value);
  if (value === null) return "nil";
  if (place.levelsLeft >= 1 && Array.isArray(value)) {
    const items = value.map((item, index) => printValue(item, inside(place, index)));
    if (!items.some((item) => item.includes("\n"))) return `[${items.join(" ")}]`;
    return block(
      "[",
      items.map((item) => `${place.indent}  ${item}`),
      "]",
      place,
    );
  }
  if (place.levelsLeft >= 1 && isObject(value)) {
    const lines = Object.entries(value)
      .filter(([, child]) => child !== undefined)
      .map(([key, child]) => {
        const field = inside(place, key);
        return `${field.indent}${printName(key)} ${printValue(child, field)}`;
      });
    return block("{", lines, "}", place);
  }
  place.reportLoss(place.path);
  return "nil";
}

/** Integers beyond the safe range get an exponent: without one, the reader returns them as text. */
function printNumber(value: number): string {
  if (Object.is(value, -0)) return "-0";
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}
