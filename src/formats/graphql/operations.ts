import { type GraphQLField, type GraphQLSchema, isObjectType } from "graphql";
import type { Warnings } from "../openapi/wording.ts";

export interface Operation {
  kind: "query" | "mutation" | "subscription";
  field: GraphQLField;
  /** The field's name, with its kind in front where several root types have a field of that name. */
  wanted: string;
}

export function operationsOf(schema: GraphQLSchema, warnings: Warnings): Operation[] {
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
