import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLSchema,
  type IntrospectionQuery,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from "graphql";
import { importBounds } from "../../kernel/bounds.ts";
import { digestOfText } from "../../kernel/digest.ts";
import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { type Pace, type Steps, unitsPerPause, withoutPauses } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { createDrafts, exceeded } from "../definitions.ts";
import type { Imported, ImportFault } from "../imported.ts";
import {
  clipText,
  createItemNames,
  createWarnings,
  fault,
  type Warnings,
  withLineFeeds,
  withoutCredentials,
} from "../text.ts";
import { faultOf, located, schemaSteps } from "./sdl.ts";
import { createTypes, deprecation } from "./types.ts";

interface Operation {
  kind: "query" | "mutation" | "subscription";
  field: GraphQLField;
  /** The field's name, prefixed with the kind if several root types have a field of that name. */
  wanted: string;
}

function operationsOf(schema: GraphQLSchema, warnings: Warnings): Operation[] {
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  const found = Object.entries(roots).flatMap(([kind, type]) =>
    Object.values(isObjectType(type) ? type.getFields() : {}).map((field) => ({
      kind: kind as Operation["kind"],
      field,
    })),
  );
  const byName = Map.groupBy(found, ({ field }) => field.name);
  return found.map(({ kind, field }) => {
    const isShared = (byName.get(field.name)?.length ?? 0) > 1;
    const wanted = isShared ? `${kind}.${field.name}` : field.name;
    if (isShared) warnings.add(`several root types have a field ${field.name}; this one is called ${wanted}`);
    return { kind, field, wanted };
  });
}

interface GraphqlOptions {
  server: string;
  /** URL to which operations are sent. */
  endpointUrl?: string | undefined;
  /** URL of the document; the endpoint's if absent. */
  sourceUrl?: string | undefined;
  /** Size of the document; if unknown, the largest that is accepted. */
  documentBytes?: number | undefined;
  /** Largest manifest that may come of it. */
  manifestBytes?: number | undefined;
}

/** SDL → manifest with one operation per field of the root types. */
export async function importGraphqlSdl(
  text: string,
  options: GraphqlOptions,
  pace: Pace = withoutPauses,
): Promise<Result<Imported, ImportFault>> {
  const warnings = createWarnings();
  const schema = await pace.run(schemaSteps(text, warnings));
  return schema.ok ? importSchema(schema.value, options, undefined, warnings, pace) : schema;
}

/** Introspection result → manifest. Accepts the whole response or only its `data`. */
export async function importGraphqlIntrospection(
  document: unknown,
  options: GraphqlOptions,
  pace: Pace = withoutPauses,
): Promise<Result<Imported, ImportFault>> {
  const isAnswer = isObject(document) && isObject(document.data);
  const data = isAnswer ? document.data : document;
  const path = isAnswer ? "/data" : "";
  if (!isObject(data) || !isObject(data.__schema)) {
    return err(fault("there is no __schema: this is not the answer to an introspection query", path));
  }
  const { types } = data.__schema;
  if (!Array.isArray(types)) return err(fault("types must be an array", `${path}/__schema/types`));
  const large = tooManyMembers(types);
  if (large !== undefined) return err({ ...large.fault, path: `${path}/__schema/types${large.path}` });
  let schema: GraphQLSchema;
  try {
    schema = buildClientSchema(data as unknown as IntrospectionQuery);
  } catch (cause) {
    return err({ ...faultOf(cause), path: `${path}/__schema` });
  }
  await pace.spend(unitsPerPause);
  return importSchema(schema, options, `${path}/__schema`, createWarnings(), pace);
}

/** What `buildClientSchema` would read: types with their fields, arguments and values. It cannot pause. */
function tooManyMembers(types: readonly unknown[]): { fault: ImportFault; path: string } | undefined {
  const limit = importBounds.introspectedMembers;
  let members = 0;
  for (const [index, type] of types.entries()) {
    members += 1;
    for (const list of isObject(type) ? Object.values(type) : []) {
      for (const member of Array.isArray(list) ? list : []) {
        members += 1 + (isObject(member) && Array.isArray(member.args) ? member.args.length : 0);
      }
    }
    if (members > limit) {
      const message = `the types up to this one have ${members} fields, arguments and values`;
      return { fault: exceeded(message, "introspectedMembers", limit, members), path: `/${index}` };
    }
  }
  return undefined;
}

/** `introspected` is the place of the schema in an introspection result; undefined for SDL. */
async function importSchema(
  schema: GraphQLSchema,
  options: GraphqlOptions,
  introspected: string | undefined,
  warnings: Warnings,
  pace: Pace,
): Promise<Result<Imported, ImportFault>> {
  let canonical: string;
  try {
    const sorted = lexicographicSortSchema(schema);
    await pace.spend(unitsPerPause);
    canonical = printSchema(sorted);
    await pace.spend(unitsPerPause);
  } catch (cause) {
    // The package evaluates types lazily; printing the schema evaluates every type, so an invalid one throws here.
    return err({ ...faultOf(cause), path: introspected });
  }
  const hash = await digestOfText(canonical);
  const about = { schema_hash: hash, requires_introspection: introspected !== undefined };
  const imported = await pace.run(importOperations(schema, options, about, warnings));
  if (imported !== undefined) return imported;
  const message = "the schema has no query, mutation or subscription";
  return err(introspected === undefined ? { message, line: 1, column: 1 } : fault(message, introspected));
}

/** undefined if the schema has no operations. */
function* importOperations(
  schema: GraphQLSchema,
  options: GraphqlOptions,
  about: { schema_hash: string; requires_introspection: boolean },
  warnings: Warnings,
): Steps<Result<Imported, ImportFault> | undefined> {
  const nameOf = createItemNames(warnings);
  const types = createTypes();
  const operations = operationsOf(schema, warnings);
  if (operations.length === 0) return undefined;
  const endpoint = withoutCredentials(options.endpointUrl);
  const text = clipText(schema.description, 65_536, "the description", warnings);
  const header = withoutUndefined({
    title: options.server,
    description: text,
    serverInfo: { name: options.server },
  });
  const drafts = createDrafts(header, options);

  for (const { kind, wanted, field } of operations) {
    const input = types.input(field.args);
    const output = types.output(field.type);
    yield* types.define();
    const what = `the description of ${kind} ${field.name}`;
    const description = clipText(field.description, 65_536, what, warnings);
    const overflow = yield* drafts.add({
      operation: withoutUndefined({
        name: nameOf(wanted, `${kind} ${field.name}`),
        description,
        provider: "graphql",
        ...deprecation(field),
        deprecationReason: field.deprecationReason ? withLineFeeds(field.deprecationReason) : undefined,
        inputSchema: input.schema,
        outputSchema: output.schema,
        annotations: { readOnlyHint: kind !== "mutation" },
        permissions: ["network.http"],
        effects: effects[kind],
        metadata: {
          graphql: withoutUndefined({
            endpoint_url: endpoint,
            operation_type: kind,
            operation_name: field.name,
            ...about,
          }),
          discovery: withoutUndefined({
            method: "graphql_introspection",
            source_url: withoutCredentials(options.sourceUrl) ?? endpoint,
            capability_type: "graphql_operation",
            introspector_version: "1.0.0",
          }),
        },
      }),
      inputNeeds: input.needs,
      outputNeeds: output.needs,
    });
    if (overflow !== undefined) return err(placed(overflow, kind, field));
  }

  const finished = yield* drafts.finish(types.definitions, warnings);
  if (!finished.ok) return finished;
  return ok({
    manifest: { ...header, operations: finished.value },
    counts: { operation: finished.value.length },
    warnings: warnings.all(),
  });
}

/** The fault at its field: by line and column of SDL, else by name. */
function placed(overflow: ImportFault, kind: Operation["kind"], field: GraphQLField): ImportFault {
  const message = `${kind} ${field.name}: ${overflow.message}`;
  return field.astNode ? { ...overflow, ...located(message, field.astNode.name) } : { ...overflow, message };
}

const effects: Record<Operation["kind"], string[]> = {
  query: ["network_request", "network_read"],
  mutation: ["network_request", "network_write"],
  subscription: ["network_request", "network_read", "stream"],
};
