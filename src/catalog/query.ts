import { type Failure, failure } from "../kernel/failure.ts";
import { tenantKey, tenantPattern } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseRfc3339 } from "../kernel/time.ts";
import { maxValueLength } from "../manifest/attributes.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { ServerStatus } from "../registry/schema.ts";
import { serverProbes } from "../registry/summary.ts";
import { type CatalogDimension, type CatalogFilter, catalogDimensions } from "./contract.ts";

/** Fields of a catalogue item, in response order. */
export const catalogFields = [
  ...(["tenant", "name", "title", "description", "version", "visibility", "status", "probe"] as const),
  ...(["counts", "tokens", "attributes", "digest", "generation", "updatedAt"] as const),
] as const;
export type CatalogField = (typeof catalogFields)[number];

/** They identify the server, so every item has them. */
const always: readonly CatalogField[] = ["tenant", "name"];

/** A parsed catalogue query. */
export interface CatalogQuery {
  filter: CatalogFilter;
  /** Dimensions to count. If absent: all on the first page, none on later pages. */
  facets?: readonly CatalogDimension[];
  fields: readonly CatalogField[];
  limit?: string;
  cursor?: string;
}

const single = ["updated_since", "limit", "cursor"] as const;
const catalogParameters = [...catalogDimensions, "facets", "fields", ...single] as const;

/** Per filter: each value may need an index scan of its own. */
const maxValuesAsked = 20;

const oneOf: Partial<Record<CatalogDimension, readonly string[]>> = {
  kind: CapabilityKind.options,
  status: ServerStatus.options,
  probe: serverProbes,
};

/** Parses the query parameters, each with all its values. Errors name the unknown or invalid parameter. */
export function parseCatalogQuery(given: Readonly<Record<string, readonly string[]>>): Result<CatalogQuery, Failure> {
  const parameters = new Map(Object.entries(given));
  for (const [name, values] of parameters) {
    if (!(catalogParameters as readonly string[]).includes(name)) {
      return badParam(`Unknown query parameter ${JSON.stringify(name)}; known: ${catalogParameters.join(", ")}`);
    }
    if ((single as readonly string[]).includes(name) && values.length > 1) {
      return badParam(`Query parameter ${name} is given ${values.length} times`);
    }
  }
  const filter: CatalogFilter = { values: {} };
  for (const dimension of catalogDimensions) {
    const wanted = parameters.get(dimension);
    if (wanted === undefined) continue;
    const error = checkValues(dimension, wanted);
    if (error !== undefined) return badParam(error);
    if (dimension === "tenant") filter.values.tenant = [...new Set(wanted.map(tenantKey))].sort();
    else filter.values[dimension] = [...new Set(wanted)].sort();
  }
  const since = parameters.get("updated_since")?.[0];
  if (since !== undefined) {
    const at = parseRfc3339(since, "up");
    if (at === undefined) {
      return badParam("updated_since must be a time as RFC 3339 writes it, such as 2026-01-31T12:00:00Z (a + as %2B)");
    }
    filter.updatedSince = at;
  }
  const fields = parseNames("fields", parameters.get("fields"), catalogFields);
  if (!fields.ok) return fields;
  const facets = facetsOf(parameters.get("facets"));
  if (!facets.ok) return facets;
  const [limit, cursor] = [parameters.get("limit")?.[0], parameters.get("cursor")?.[0]];
  return ok({
    filter,
    fields: fields.value === undefined ? catalogFields : [...new Set([...always, ...fields.value])],
    facets: facets.value,
    limit,
    cursor,
  });
}

function checkValues(dimension: CatalogDimension, values: readonly string[]): string | undefined {
  if (values.length > maxValuesAsked) return `${dimension} is given ${values.length} times, ${maxValuesAsked} at most`;
  const known = oneOf[dimension];
  for (const value of values) {
    if (known !== undefined && !known.includes(value)) return `${dimension} must be one of ${known.join(", ")}`;
    if (dimension === "tenant" && !tenantPattern.test(value)) return "tenant must be a tenant's name";
    if (value === "") return `${dimension} is empty`;
    if (value.length > maxValueLength)
      return `${dimension} is longer than any value there is: ${maxValueLength} characters`;
  }
  return undefined;
}

function facetsOf(given: readonly string[] | undefined): Result<readonly CatalogDimension[] | undefined, Failure> {
  if (given?.length === 1 && given[0] === "false") return ok([]);
  if (given?.length === 1 && given[0] === "true") return ok(catalogDimensions);
  const named = parseNames("facets", given, catalogDimensions);
  return named.ok || given === undefined ? named : badParam(`${named.error.message}, or true or false`);
}

/** Parses names separated by commas or in repeated parameters, and returns them in the order of `known`. */
function parseNames<Name extends string>(
  parameter: string,
  given: readonly string[] | undefined,
  known: readonly Name[],
): Result<Name[] | undefined, Failure> {
  if (given === undefined) return ok(undefined);
  const names = new Set(given.flatMap((text) => text.split(",")));
  for (const name of names) {
    if ((known as readonly string[]).includes(name)) continue;
    return badParam(
      `${parameter} has no ${JSON.stringify(name.slice(0, maxValueLength))}; there are ${known.join(", ")}`,
    );
  }
  return ok(known.filter((name) => names.has(name)));
}

function badParam(message: string): Result<never, Failure> {
  return err(failure("ErrorBadRequest", message));
}
