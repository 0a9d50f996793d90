import {
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  Kind,
} from "graphql";
import { withoutUndefined } from "../../kernel/json.ts";
import type { Steps } from "../../kernel/pace/pace.ts";
import type { Converted, Definition } from "../definitions.ts";
import { plainCopy, plainObject, withLineFeeds } from "../text.ts";

type Properties = Record<string, unknown>;

const builtInScalars: Record<string, Properties> = {
  Int: { type: "integer" },
  Float: { type: "number" },
  String: { type: "string" },
  Boolean: { type: "boolean" },
  ID: { type: "string" },
};

/** Custom scalars with the same meaning in nearly every schema. Other custom scalars accept any value. */
const customScalars: Record<string, Properties> = {
  DateTime: { type: "string", format: "date-time" },
  Date: { type: "string", format: "date" },
  Time: { type: "string", format: "time" },
  URI: { type: "string", format: "uri" },
  URL: { type: "string", format: "uri" },
  UUID: { type: "string", format: "uuid" },
  BigInt: { type: ["string", "integer"] },
};

const defaultLevels = 32;
/** Nesting limit for lists of lists; the items of deeper lists are left open. */
const maxLists = 8;

/**
 * GraphQL types → JSON Schema. Input objects, enums and custom scalars become definitions, created once each, so that
 * recursive types stay finite.
 */
export function createTypes() {
  const definitions = new Map<string, Definition>();
  /** Results by the printed type, `[User!]!`: many fields have the same. */
  const outputs = new Map<string, Converted>();

  /**
   * Schema of an input value. Null is not listed for optional arguments: omitting the argument is simpler, and every
   * optional argument would repeat it.
   */
  function inputType(type: GraphQLInputType, needs: Set<string>, lists = 0): Properties {
    if (isNonNullType(type)) return inputType(type.ofType, needs, lists);
    if (!isListType(type)) return named(type, needs);
    return lists === maxLists ? { type: "array" } : { type: "array", items: inputType(type.ofType, needs, lists + 1) };
  }

  /** Object schema for the arguments of a field or the fields of an input object. */
  function inputObject(all: readonly (GraphQLArgument | GraphQLInputField)[], needs: Set<string>): Properties {
    const values = all.filter(({ name }) => !isReserved(name));
    const required = values.filter(({ type, default: value }) => isNonNullType(type) && value === undefined);
    return withoutUndefined({
      type: "object",
      properties: plainObject(
        values.map((value) => [value.name, { ...inputType(value.type, needs), ...about(value) }]),
      ),
      required: required.length === 0 ? undefined : required.map(({ name }) => name),
    });
  }

  /**
   * Schema of a field's result, one level deep: scalars in full, nested objects by name only. No field is required,
   * because the query selects the fields.
   */
  function outputType(type: GraphQLOutputType, needs: Set<string>, isTop = true, lists = 0): Properties {
    if (isNonNullType(type)) return outputNotNull(type.ofType, needs, isTop, lists);
    return orNull(outputNotNull(type, needs, isTop, lists));
  }

  function outputNotNull(type: GraphQLOutputType, needs: Set<string>, isTop: boolean, lists: number): Properties {
    if (isListType(type)) {
      if (lists === maxLists) return { type: "array" };
      return { type: "array", items: outputType(type.ofType, needs, isTop, lists + 1) };
    }
    if (isUnionType(type)) {
      return isTop ? { title: type.name, anyOf: type.getTypes().map(outline) } : outline(type);
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return named(type as GraphQLNamedType, needs);
    if (!isTop) return outline(type);
    const fields = Object.values(type.getFields()).filter(({ name }) => !isReserved(name));
    return {
      ...outline(type),
      ...described(type.description),
      properties: plainObject(
        fields.map((field) => [
          field.name,
          { ...outputType(field.type, needs, false), ...described(field.description), ...deprecation(field) },
        ]),
      ),
    };
  }

  function named(type: GraphQLNamedType, needs: Set<string>): Properties {
    const scalar = Object.hasOwn(builtInScalars, type.name) ? builtInScalars[type.name] : undefined;
    if (scalar !== undefined) return scalar;
    if (isReserved(type.name)) return {};
    needs.add(type.name);
    pending.push(type);
    return { $ref: `#/$defs/${type.name}` };
  }

  const pending: GraphQLNamedType[] = [];

  /**
   * Reads the types that are referenced, one a step. Runs after a type is read, not during it: recursion over a long chain
   * of input objects could overflow the stack.
   */
  function* define(): Steps<void> {
    for (let type = pending.pop(); type !== undefined; type = pending.pop()) {
      if (definitions.has(type.name)) continue;
      const needs = new Set<string>();
      const schema = definition(type, needs);
      definitions.set(type.name, { name: type.name, schema, needs: [...needs] });
      yield 1 + membersOf(type);
    }
  }

  function definition(type: GraphQLNamedType, needs: Set<string>): Properties {
    const description = described(type.description);
    if (isEnumType(type)) return { type: "string", ...description, enum: type.getValues().map(({ name }) => name) };
    if (isInputObjectType(type)) {
      const exactlyOne = type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {};
      const fields = inputObject(Object.values(type.getFields()), needs);
      return { ...fields, ...description, additionalProperties: false, ...exactlyOne };
    }
    const known = Object.hasOwn(customScalars, type.name) ? customScalars[type.name] : {};
    return { title: type.name, ...known, ...description };
  }

  return {
    definitions,
    input(values: readonly GraphQLArgument[]): Converted {
      const needs = new Set<string>();
      const schema = inputObject(values, needs);
      return { schema, needs: [...needs] };
    },
    output(type: GraphQLOutputType): Converted {
      const printed = String(type);
      const known = outputs.get(printed);
      if (known !== undefined) return known;
      const needs = new Set<string>();
      const schema = outputType(type, needs);
      const converted = { schema, needs: [...needs] };
      outputs.set(printed, converted);
      return converted;
    },
    define,
  };
}

/** Number of fields or values. */
function membersOf(type: GraphQLNamedType): number {
  if (isEnumType(type)) return type.getValues().length;
  return "getFields" in type ? Object.keys(type.getFields()).length : 0;
}

/** The GraphQL specification reserves names that start with `__` for introspection. */
function isReserved(name: string): boolean {
  return name.startsWith("__");
}

function outline({ name }: GraphQLNamedType): Properties {
  return { type: "object", title: name };
}

function orNull(schema: Properties): Properties {
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  const { title, ...rest } = schema;
  if (Array.isArray(rest.anyOf)) return { ...schema, anyOf: [...rest.anyOf, { type: "null" }] };
  return withoutUndefined({ title, anyOf: [rest, { type: "null" }] });
}

function about(value: GraphQLArgument | GraphQLInputField): Properties {
  const { default: initial } = value;
  const literal = initial?.literal === undefined ? initial?.value : literalValue(initial.literal, defaultLevels);
  return withoutUndefined({
    ...described(value.description),
    default: initial === undefined ? undefined : plainCopy(literal, defaultLevels),
    ...deprecation(value),
  });
}

/** JSON value of a literal; lists and objects nested deeper than `levels` become null. */
function literalValue(node: ConstValueNode, levels: number): unknown {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return levels === 0 ? null : node.values.map((value) => literalValue(value, levels - 1));
    case Kind.OBJECT:
      if (levels === 0) return null;
      return plainObject(node.fields.map(({ name, value }) => [name.value, literalValue(value, levels - 1)]));
    default:
      return node.value;
  }
}

export function deprecation({ deprecationReason: reason }: { deprecationReason?: string | null | undefined }) {
  return reason === undefined || reason === null ? {} : { deprecated: true };
}

function described(description: string | null | undefined): Properties {
  return typeof description === "string" && description !== "" ? { description: withLineFeeds(description) } : {};
}
