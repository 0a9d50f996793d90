import {
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getLocation,
  type InputValueDefinitionNode,
  introspectionTypes,
  Kind,
  type NameNode,
  parse,
  print,
  specifiedScalarTypes,
  type TypeNode,
} from "graphql";
import { importBounds } from "../../kernel/bounds.ts";
import { type Steps, unitsPerPause } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { exceeded } from "../definitions.ts";
import type { ImportFault } from "../imported.ts";
import type { Warnings } from "../text.ts";

const parserLimits = {
  maxSourceLength: importBounds.sdlBytes,
  maxLexicalTokens: importBounds.sdlTokens,
  maxComments: importBounds.sdlComments,
};

/**
 * Builds a schema from SDL. The validation of the `graphql` package searches for similar names at every unknown name
 * and reports without a position, so type names are checked here. Its directive checks are skipped: directives do not
 * matter for the import, and federated schemas use directives that they do not define.
 *
 * Parsing, checking and building are one step each, because the package cannot pause inside them.
 */
export function* schemaSteps(text: string, warnings: Warnings): Steps<Result<GraphQLSchema, ImportFault>> {
  try {
    const document = parse(text, parserLimits);
    yield unitsPerPause;
    const problem = firstProblem(document, warnings);
    if (problem !== undefined) return err(located(problem.message, problem.name));
    yield unitsPerPause;
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    yield unitsPerPause;
    return ok(schema);
  } catch (cause) {
    // The parser calls itself for every bracket and has no position to tell when it runs out of stack.
    const at = cause instanceof RangeError ? deepBracket(text) : undefined;
    const stopped = faultOf(cause);
    return err({ ...stopped, ...tooManyTokens(stopped), ...at });
  }
}

/** The fault of a parser that stopped at a limit. */
function tooManyTokens({ message }: ImportFault): Pick<ImportFault, "message" | "bound"> | undefined {
  const [, what] = /more than \d+ (tokens|comments)\b/i.exec(message) ?? [];
  if (what === undefined) return undefined;
  const limit = what === "tokens" ? parserLimits.maxLexicalTokens : parserLimits.maxComments;
  const name = what === "tokens" ? "sdlTokens" : "sdlComments";
  return exceeded(`the schema has more than ${limit} ${what}`, name, limit, limit + 1);
}

/** More than any type or default value nests. */
const maxBrackets = 200;

/** Position of the first bracket that is nested too deeply. */
function deepBracket(text: string): { line: number; column: number } | undefined {
  let [depth, line, start] = [0, 1, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === "\n") [line, start] = [line + 1, at + 1];
    else if ("[({".includes(character)) depth += 1;
    else if ("])}".includes(character)) depth -= 1;
    if (depth > maxBrackets) return { line, column: at - start + 1 };
  }
  return undefined;
}

/** Fault for an error thrown by the `graphql` package. Its message is cut, because it may quote the document. */
export function faultOf(cause: unknown): ImportFault {
  if (cause instanceof RangeError) return { message: "the schema is nested too deeply" };
  const isGraphqlError = cause instanceof GraphQLError || (cause instanceof Error && cause.constructor === Error);
  if (!isGraphqlError) return { message: "the schema is incomplete" };
  const message = (cause.message.split("\n")[0] ?? "").slice(0, 200);
  const at = cause instanceof GraphQLError ? cause.locations?.[0] : undefined;
  return at === undefined ? { message } : { message, line: at.line, column: at.column };
}

export function located(message: string, { loc }: NameNode | DefinitionNode): ImportFault {
  if (loc === undefined) return { message };
  const { line, column } = getLocation(loc.source, loc.start);
  return { message, line, column };
}

type Position = "input" | "output";

interface Problem {
  message: string;
  name: NameNode | DefinitionNode;
}

const bothPositions: readonly Position[] = ["input", "output"];

function positionsOf({ kind }: DefinitionNode): readonly Position[] | undefined {
  switch (kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_DEFINITION:
      return bothPositions;
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.UNION_TYPE_DEFINITION:
      return ["output"];
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return ["input"];
    default:
      return undefined;
  }
}

function firstProblem({ definitions }: DocumentNode, warnings: Warnings): Problem | undefined {
  const types = new Map<string, readonly Position[]>();
  for (const { name } of specifiedScalarTypes) types.set(name, bothPositions);
  for (const { name } of introspectionTypes) types.set(name, ["output"]);
  const defined = new Set<string>();
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION) {
      return { message: "this is a query, not part of a schema", name: definition };
    }
    const positions = positionsOf(definition);
    if (positions === undefined || !("name" in definition) || definition.name === undefined) continue;
    const { name } = definition;
    if (defined.has(name.value)) return { message: `the type ${name.value} is defined twice`, name };
    defined.add(name.value);
    types.set(name.value, positions);
  }
  return firstOf(definitions, (definition) => problemIn(definition, types, warnings));
}

function problemIn(
  definition: DefinitionNode,
  types: ReadonlyMap<string, readonly Position[]>,
  warnings: Warnings,
): Problem | undefined {
  const repeated = (nodes: readonly Member[]) => repeatedMember(nodes, warnings);
  const known = ({ name }: { name: NameNode }): Problem | undefined =>
    types.has(name.value) ? undefined : { message: `unknown type ${name.value}`, name };
  const fits = (node: TypeNode, position: Position): Problem | undefined => {
    let type = node;
    while (type.kind !== Kind.NAMED_TYPE) type = type.type;
    const isOther = types.get(type.name.value)?.includes(position) === false;
    return isOther ? { message: `${type.name.value} is not an ${position} type`, name: type.name } : known(type);
  };
  const inputs = (values: readonly InputValueDefinitionNode[] = []) =>
    repeated(values) ?? firstOf(values, ({ type }) => fits(type, "input"));
  const fields = (nodes: readonly FieldDefinitionNode[] = []) =>
    repeated(nodes) ?? firstOf(nodes, (field) => fits(field.type, "output") ?? inputs(field.arguments));

  switch (definition.kind) {
    case Kind.SCHEMA_DEFINITION:
    case Kind.SCHEMA_EXTENSION:
      return firstOf(definition.operationTypes ?? [], ({ type }) => known(type));
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
      return firstOf(definition.interfaces ?? [], known) ?? fields(definition.fields);
    case Kind.OBJECT_TYPE_EXTENSION:
    case Kind.INTERFACE_TYPE_EXTENSION:
      return known(definition) ?? firstOf(definition.interfaces ?? [], known) ?? fields(definition.fields);
    case Kind.UNION_TYPE_DEFINITION:
      return firstOf(definition.types ?? [], known);
    case Kind.UNION_TYPE_EXTENSION:
      return known(definition) ?? firstOf(definition.types ?? [], known);
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return inputs(definition.fields);
    case Kind.INPUT_OBJECT_TYPE_EXTENSION:
      return known(definition) ?? inputs(definition.fields);
    case Kind.ENUM_TYPE_DEFINITION:
      return repeated(definition.values ?? []);
    case Kind.ENUM_TYPE_EXTENSION:
    case Kind.SCALAR_TYPE_EXTENSION:
      return known(definition);
    case Kind.DIRECTIVE_DEFINITION:
      return inputs(definition.arguments);
    default:
      return undefined;
  }
}

type Member = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

/**
 * A member that is defined twice. Real schemas repeat fields word for word, which is only worth a warning; two different
 * definitions of one name are a problem.
 */
function repeatedMember(nodes: readonly Member[], warnings: Warnings): Problem | undefined {
  const seen = new Map<string, Member>();
  return firstOf(nodes, (node) => {
    const { name } = node;
    const earlier = seen.get(name.value);
    if (earlier === undefined) {
      seen.set(name.value, node);
      return undefined;
    }
    if (withoutDescription(earlier) !== withoutDescription(node)) {
      return { message: `${name.value} is defined twice, and differs`, name };
    }
    const { line } = located("", name);
    warnings.add(`line ${line}: ${name.value} is defined twice; the definitions are the same`);
    return undefined;
  });
}

function withoutDescription(node: Member): string {
  return print({ ...node, description: undefined });
}

function firstOf<T>(nodes: readonly T[], problem: (node: T) => Problem | undefined): Problem | undefined {
  for (const node of nodes) {
    const found = problem(node);
    if (found !== undefined) return found;
  }
  return undefined;
}
