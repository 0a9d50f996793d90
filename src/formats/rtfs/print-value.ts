import { pointer } from "../../kernel/issue.ts";
import { isObject } from "../../kernel/json.ts";
import { printName, printString } from "./string.ts";

/** Position of the value being printed, and the callback for values that RTFS cannot express. */
export interface Place {
  /** Indentation of the line on which the value starts. */
  indent: string;
  /** Nesting levels left. */
  levelsLeft: number;
  /** JSON pointer, relative to the list of capabilities. */
  path: string;
  reportLoss: (path: string) => void;
}

export function inside(place: Place, segment: string | number): Place {
  const path = pointer(place.path, segment);
  return { ...place, indent: `${place.indent}  `, levelsLeft: place.levelsLeft - 1, path };
}

/** Puts brackets around lines that are already indented. */
export function block(open: string, lines: readonly string[], close: string, { indent }: Place): string {
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join("\n")}\n${indent}${close}`;
}

export function printValue(value: unknown, place: Place): string {
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
