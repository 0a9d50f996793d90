import { isObject, type JsonObject } from "../kernel/json.ts";
import { type ConnectInput, type Part, type Text, textProblem } from "./target.ts";

/** Collects what a declaration asks the reader for, and what in it cannot be used. */
export interface Declaration {
  inputs: ConnectInput[];
  /** What cannot be used, with its place. */
  problems: string[];
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The objects of a list; a publisher's document may hold anything. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * The text of a declared value: fixed text with `{variables}`, or a gap of its own. A secret's fixed text or default is
 * left out, since it would stand in the reader's file.
 */
export function declaredText(declaration: Declaration, id: string, declared: JsonObject, place: string): Text {
  const fixed = text(declared.value);
  const variables = isObject(declared.variables) ? declared.variables : {};
  if (fixed === undefined || (declared.isSecret === true && !hasVariables(fixed, variables))) {
    return [{ input: addInput(declaration, id, declared) }];
  }
  return fill(declaration, fixed, variables, place);
}

/** Splits `https://{region}.acme.dev` at its variables. */
export function fill(declaration: Declaration, template: string, variables: JsonObject, place: string): Text {
  const parts: Part[] = [];
  let rest = 0;
  for (const match of template.matchAll(/\{([A-Za-z_][\w.-]*)\}/g)) {
    const name = match[1] ?? "";
    if (!Object.hasOwn(variables, name)) continue;
    parts.push(template.slice(rest, match.index));
    const variable = variables[name];
    parts.push({ input: addInput(declaration, name, { isRequired: true, ...(isObject(variable) ? variable : {}) }) });
    rest = match.index + match[0].length;
  }
  parts.push(template.slice(rest));
  const kept = parts.filter((part) => part !== "");
  for (const part of kept) {
    const problem = typeof part === "string" ? textProblem(part) : undefined;
    if (problem !== undefined) declaration.problems.push(`${place}: ${problem}`);
  }
  return kept;
}

function hasVariables(template: string, variables: JsonObject): boolean {
  return Object.keys(variables).some((name) => template.includes(`{${name}}`));
}

/** One input for each id: a variable that is used twice is asked for once. */
function addInput({ inputs, problems }: Declaration, id: string, declared: JsonObject): string {
  if (inputs.some((input) => input.id === id)) return id;
  const secret = declared.isSecret === true;
  const preset = secret ? undefined : (text(declared.default) ?? text(declared.value));
  const choices = Array.isArray(declared.choices)
    ? declared.choices.filter((choice): choice is string => text(choice) !== undefined)
    : [];
  for (const one of [preset, ...choices]) {
    const problem = one === undefined ? undefined : textProblem(one);
    if (problem !== undefined) problems.push(`input ${id}: ${problem}`);
  }
  const input: ConnectInput = { id, required: declared.isRequired === true, secret };
  const description = text(declared.description);
  const placeholder = text(declared.placeholder) ?? text(declared.valueHint);
  if (description !== undefined) input.description = description;
  if (placeholder !== undefined) input.placeholder = placeholder;
  if (preset !== undefined) input.default = preset;
  if (choices.length > 0) input.choices = choices;
  inputs.push(input);
  return id;
}
