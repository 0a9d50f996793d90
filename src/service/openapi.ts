import { indexOperations } from "../capability-index/operations.ts";
import { catalogOperations } from "../catalog/operations.ts";
import { changesOperations } from "../changes/operations.ts";
import { hooksOperations } from "../hooks/operations.ts";
import { type Operation, requestHeaders } from "../http/operation.ts";
import { version } from "../kernel/version.ts";
import { mcpOperations } from "../mcp/operations.ts";
import { officialOperations } from "../official/operations.ts";
import { registryOperations } from "../registry/operations.ts";
import { searchOperations } from "../search/operations.ts";
import { sessionsOperations } from "../sessions/operations.ts";
import { sourcesOperations } from "../sources/operations.ts";
import { subscriptionsOperations } from "../subscriptions/operations.ts";
import { serviceOperations } from "./operations.ts";
import { jsonSchemas } from "./published-schemas.ts";

/** Every path and method of the API. */
const operations: Record<string, Record<string, Operation>> = {
  ...officialOperations("/v0.1", ""),
  ...officialOperations("/v0", "V0"),
  ...serviceOperations,
  ...catalogOperations,
  ...searchOperations,
  ...indexOperations,
  ...registryOperations,
  ...sourcesOperations,
  ...subscriptionsOperations,
  ...hooksOperations,
  ...changesOperations,
  ...sessionsOperations,
  ...mcpOperations,
};

/**
 * The OpenAPI document, written to schemas/openapi.json by `npm run generate`. A test fails if a route is missing here
 * or a described route does not exist.
 */
export function openApiDocument(): Record<string, unknown> {
  const component = (name: string) => `#/components/schemas/${name}`;
  const schemas = Object.fromEntries(
    Object.entries(jsonSchemas(component)).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
  const paths = Object.fromEntries(
    Object.entries(operations).map(([path, methods]) => [
      path,
      {
        ...pathParameters(path),
        ...Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [method, describe(operation, component)]),
        ),
      },
    ]),
  );
  return {
    openapi: "3.1.1",
    info: {
      title: "Rollcall",
      version,
      summary: "An edge-deployed capability registry",
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Success is `{success: true, message?, data}`; failure is `{success: false, error: {code, message, details?}}`. " +
        "Data answers carry ETag, Rollcall-Generation and Rollcall-Source.",
    },
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }, schemas },
  };
}

function pathParameters(path: string): { parameters?: unknown[] } {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1]);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })) };
}

function describe(operation: Operation, component: (name: string) => string): Record<string, unknown> {
  const text = { type: "string" };
  const query = Object.entries(operation.query ?? {}).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: text,
  }));
  const headers = (operation.headers ?? []).map((name) => ({
    name,
    in: "header",
    description: requestHeaders[name],
    schema: text,
  }));
  const parameters = [...query, ...headers];
  const content = contentOf(operation.body, component);
  return {
    operationId: operation.id,
    summary: operation.summary,
    security: operation.anonymous ? [] : undefined,
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: content && { required: true, content },
    responses: Object.fromEntries(
      Object.entries(operation.answers).map(([status, description]) => [status, { description }]),
    ),
  };
}

function contentOf(body: string | undefined, component: (name: string) => string): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  if (body === "any") return { "*/*": {} };
  const schema = { $ref: component(body) };
  return { "application/json": { schema }, "application/yaml": { schema } };
}
