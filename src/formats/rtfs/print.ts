import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { type RtfsCapability, spellings } from "./capability.ts";
import { printableComments } from "./comments.ts";
import { migrate } from "./migrate.ts";
import { printSchema } from "./print-schema.ts";
import { inside, type Place, printValue } from "./print-value.ts";
import { maxDepth, readForms } from "./read-forms.ts";
import { printName, printString } from "./string.ts";

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
  const { fields: migrated } = migrate(given);
  const { fields, comments } = splitComments(migrated);
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
  const above = comments.map((comment) => `;; ${comment}\n`).join("");
  return `${above}(capability ${[printString(id), ...lines].join("\n")})\n`;
}

/** Takes the comments out of the metadata: they are printed above the capability, where the reader finds them. */
function splitComments(fields: Record<string, unknown>): { fields: Record<string, unknown>; comments: string[] } {
  const { metadata } = fields;
  const rtfs = isObject(metadata) && isObject(metadata.rtfs) ? metadata.rtfs : {};
  const comments = printableComments(rtfs);
  if (comments === undefined || !isObject(metadata)) return { fields, comments: [] };
  const { comments: _, ...others } = rtfs;
  const left = withoutUndefined({ ...metadata, rtfs: isEmpty(others) ? undefined : others });
  return { fields: { ...fields, metadata: isEmpty(left) ? undefined : left }, comments };
}

function isEmpty(value: Record<string, unknown>): boolean {
  return Object.keys(value).length === 0;
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
