import {
  buildClientSchema,
  type GraphQLField,
  type GraphQLSchema,
  type IntrospectionQuery,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from "graphql";
import { digestOfText } from "../../kernel/digest.ts";
import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { createDrafts } from "../definitions.ts";
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
import { faultOf, schemaFromSdl } from "./sdl.ts";
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
}

/** SDL → manifest with one operation per field of the root types. */
export async function importGraphqlSdl(text: string, options: GraphqlOptions): Promise<Result<Imported, ImportFault>> {
  const warnings = createWarnings();
  const schema = schemaFromSdl(text, warnings);
  return schema.ok ? importSchema(schema.value, options, undefined, warnings) : schema;
}

/** Introspection result → manifest. Accepts the whole response or only its `data`. */
export async function importGraphqlIntrospection(
  document: unknown,
  options: GraphqlOptions,
): Promise<Result<Imported, ImportFault>> {
  const isAnswer = isObject(document) && isObject(document.data);
  const data = isAnswer ? document.data : document;
  const path = isAnswer ? "/data" : "";
  if (!isObject(data) || !isObject(data.__schema)) {
    return err(fault("there is no __schema: this is not the answer to an introspection query", path));
  }
  if (!Array.isArray(data.__schema.types)) return err(fault("types must be an array", `${path}/__schema/types`));
  let schema: GraphQLSchema;
  try {
    schema = buildClientSchema(data as unknown as IntrospectionQuery);
  } catch (cause) {
    return err({ ...faultOf(cause), path: `${path}/__schema` });
  }
  return importSchema(schema, options, `${path}/__schema`, createWarnings());
}

/** `introspected` is the place of the schema in an introspection result; undefined for SDL. */
async function importSchema(
  schema: GraphQLSchema,
  options: GraphqlOptions,
  introspected: string | undefined,
  warnings: Warnings,
): Promise<Result<Imported, ImportFault>> {
  let canonical: string;
  try {
    canonical = printSchema(lexicographicSortSchema(schema));
  } catch (cause) {
    // The package evaluates types lazily; printing the schema evaluates every type, so an invalid one throws here.
    return err({ ...faultOf(cause), path: introspected });
  }
  const hash = await digestOfText(canonical);
  const about = { schema_hash: hash, requires_introspection: introspected !== undefined };
  const imported = importOperations(schema, options, about, warnings);
  if (imported !== undefined) return imported;
  const message = "the schema has no query, mutation or subscription";
  return err(introspected === undefined ? { message, line: 1, column: 1 } : fault(message, introspected));
}

/** undefined if the schema has no operations. */
function importOperations(
  schema: GraphQLSchema,
  options: GraphqlOptions,
  about: { schema_hash: string; requires_introspection: boolean },
  warnings: Warnings,
): Result<Imported, ImportFault> | undefined {
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
  const drafts = createDrafts(header);

  for (const { kind, wanted, field } of operations) {
    const input = types.input(field.args);
    const output = types.output(field.type);
    const what = `the description of ${kind} ${field.name}`;
    const description = clipText(field.description, 65_536, what, warnings);
    const overflow = drafts.add({
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
    if (overflow !== undefined) return err(overflow);
  }

  const finished = drafts.finish(types.definitions, warnings);
  if (!finished.ok) return finished;
  return ok({
    manifest: { ...header, operations: finished.value },
    counts: { operation: finished.value.length },
    warnings: warnings.all(),
  });
}

const effects: Record<Operation["kind"], string[]> = {
  query: ["network_request", "network_read"],
  mutation: ["network_request", "network_write"],
  subscription: ["network_request", "network_read", "stream"],
};
