import { isObject, withoutUndefined } from "../../kernel/json.ts";
import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { createDrafts } from "../definitions.ts";
import type { Imported, ImportFault } from "../imported.ts";
import { clipText, createItemNames, fault } from "../text.ts";
import { child, createSource, type OpenApiDocument, type OpenApiVersion, pathOf, visitedTooMuch } from "./document.ts";
import { readOperation } from "./operation.ts";
import { countCallbacks, countWebhooks, type OperationPlace, operations } from "./path-items.ts";
import { createSchemas } from "./schemas.ts";

interface OpenApiOptions {
  server: string;
  /** URL of the document. */
  sourceUrl?: string | undefined;
  /** Base URL of all operations, in place of those that the document names. */
  endpointUrl?: string | undefined;
  /** Size of the document; if unknown, the largest that is accepted. */
  documentBytes?: number | undefined;
  /** Largest manifest that may come of it. */
  manifestBytes?: number | undefined;
}

/** OpenAPI 2.0 to 3.2 → manifest with one operation per method and path. Nothing is fetched. */
export function importOpenApi(document: unknown, options: OpenApiOptions): Result<Imported, ImportFault> {
  return runAtOnce(openApiSteps(document, options));
}

/** The import in steps, for documents from outside. */
export function* openApiSteps(document: unknown, options: OpenApiOptions): Steps<Result<Imported, ImportFault>> {
  const version = versionOf(document);
  if (!version.ok) return version;
  const source = createSource(document as Record<string, unknown>, version.value, options);
  const paths = child(source.top, "paths");
  // Since 3.1 a document may contain only webhooks or components.
  const mayLackPaths = version.value === "3.1" || version.value === "3.2";
  if (!isObject(paths.value) && !(paths.value === undefined && mayLackPaths)) {
    return err(fault(paths.value === undefined ? "there are no paths" : "paths must be an object", "/paths"));
  }

  const { header, apiVersion } = readHeader(source, options.server);
  const schemas = createSchemas(source);
  const drafts = createDrafts(header, options);
  const nameOf = createItemNames(source.warnings);
  let callbacks = 0;
  let visited = 0;
  for (const place of operations(source, paths)) {
    const { operation } = place;
    const draft = readOperation(source, schemas, place, apiVersion);
    callbacks += countCallbacks(source, operation);
    yield source.steps - visited;
    visited = source.steps;
    for (const _ of schemas.readPending()) {
      yield source.steps - visited;
      visited = source.steps;
      if (visitedTooMuch(source, operation)) break;
    }
    visitedTooMuch(source, operation);
    if (source.fault !== undefined) break;
    const name = nameOf(wantedName(place), `${place.method} ${place.path}`);
    const overflow = yield* drafts.add({ ...draft, operation: { name, ...draft.operation } });
    if (overflow !== undefined) return err({ ...overflow, path: pathOf(operation) });
  }
  warnOfWebhooksAndCallbacks(source, countWebhooks(source), callbacks);
  if (source.ignoredHeaders > 0) {
    const headers = "parameters for the headers Accept, Content-Type and Authorization are to be ignored (OpenAPI 3)";
    source.warnings.add(`${headers}: ${source.ignoredHeaders} left out`);
  }

  const definitions = yield* schemas.finish();
  if (source.fault !== undefined) return err(source.fault);
  const finished = yield* drafts.finish(definitions, source.warnings);
  if (!finished.ok) return finished;
  return ok({
    manifest: { ...header, operations: finished.value },
    counts: { operation: finished.value.length },
    warnings: source.warnings.all(),
  });
}

function versionOf(document: unknown): Result<OpenApiVersion, ImportFault> {
  if (!isObject(document)) return err(fault("an OpenAPI document is an object", ""));
  const key = document.openapi === undefined && document.swagger !== undefined ? "swagger" : "openapi";
  const version = document[key];
  if (version === undefined)
    return err(fault("this is not an OpenAPI document: `openapi` (3.x) or `swagger` (2.0) is missing", ""));
  // YAML parses an unquoted 2.0 as the number 2.
  if (key === "swagger" && (version === "2.0" || version === 2)) return ok("2.0");
  const [, minor] = typeof version === "string" ? (/^3\.([012])(?:\.\d\S*)?$/.exec(version) ?? []) : [];
  if (key === "swagger" || minor === undefined) {
    const said = typeof version === "string" ? `version ${JSON.stringify(version.slice(0, 50))}` : "this version";
    return err(fault(`${said} is not known; 2.0, 3.0, 3.1 and 3.2 are`, `/${key}`));
  }
  return ok(`3.${minor}` as OpenApiVersion);
}

function readHeader(source: OpenApiDocument, server: string) {
  const { warnings } = source;
  const info = isObject(source.document.info) ? source.document.info : {};
  const number = typeof info.version === "number" ? String(info.version) : info.version;
  const apiVersion = clipText(number, 255, "the version", warnings);
  const title = clipText(info.title, 1_024, "the title", warnings);
  const description = clipText(info.description, 65_536, "the description", warnings);
  const header = withoutUndefined({
    title,
    version: apiVersion,
    description,
    serverInfo: withoutUndefined({ name: title ?? server, version: apiVersion }),
  });
  return { header, apiVersion };
}

/** `operationId`, or else method and path: `get/pets/petId`. */
function wantedName({ method, path, operation }: OperationPlace): string {
  const id = child(operation, "operationId").value;
  if (typeof id === "string" && /[A-Za-z0-9]/.test(id)) return id;
  return `${method.toLowerCase()}${path.startsWith("/") ? "" : "/"}${path.replace(/[{}]/g, "")}`;
}

function warnOfWebhooksAndCallbacks(source: OpenApiDocument, webhooks: number, callbacks: number): void {
  const counts = { webhooks, callbacks };
  for (const [what, count] of Object.entries(counts)) {
    if (count > 0)
      source.warnings.add(`${what} are requests the server sends, not operations of it: ${count} left out`);
  }
}
