import { expect } from "vitest";
import { declaredFailures } from "../../../src/http/openapi/declared-failures.ts";
import { errorShapes } from "../../../src/http/openapi/error-schema.ts";
import type { Operation } from "../../../src/http/operation.ts";
import { type FailureCode, statusOf } from "../../../src/kernel/failure.ts";
import { operations } from "../../../src/operations.ts";

const patterns = operations.flatMap((operation) =>
  [operation.path, ...(operation.also ?? [])].map((path) => ({
    operation,
    path,
    pattern: new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{\w+\}/g, "([^/]+)")}$`),
    parameters: path.split("{").length,
  })),
);

/** The operation that a request is for; undefined if no operation has this method and path. */
export function operationOf(method: string, url: string): Operation | undefined {
  const plain = new URL(url).pathname;
  const wanted = method === "HEAD" ? "get" : method.toLowerCase();
  const there = patterns.filter(({ pattern }) => pattern.test(plain)).sort((a, b) => a.parameters - b.parameters);
  const fewest = there.filter(({ parameters }) => parameters === there[0]?.parameters);
  return fewest.find(({ operation }) => operation.method === wanted)?.operation;
}

/**
 * Fails if an answer is not as its operation declares: its status, its code, its headers, its media type, and every
 * member of its body. `text` is undefined for a body that was not read.
 */
export function checkAnswer(method: string, url: string, response: Response, text: string | undefined): void {
  const operation = operationOf(method, url);
  if (operation === undefined) return;
  const { status } = response;
  // A page: what a browser gets instead, which is no part of the API.
  if (response.headers.get("Content-Type")?.startsWith("text/html")) return;
  const at = `${operation.id} answers ${status}`;
  if (status === 304) {
    expect([at, Object.values(operation.answers).some(({ etag }) => etag)]).toEqual([at, true]);
    return;
  }
  if (status >= 400) {
    checkFailure(operation, at, response, method === "HEAD" ? undefined : text);
    return;
  }
  const declared = operation.answers[status];
  if (declared === undefined) throw new Error(`${at}, which it does not declare`);
  if (declared.etag) expect([at, response.headers.has("ETag")]).toEqual([at, true]);
  if (declared.directory === true) expect([at, response.headers.has("Rollcall-Directory")]).toEqual([at, true]);
  if (declared.generation) expect([at, response.headers.has("Rollcall-Generation")]).toEqual([at, true]);
  for (const name of Object.keys(declared.headers ?? {})) {
    expect([at, name, exposed(response).includes(name)]).toEqual([at, name, true]);
  }
  const type = response.headers.get("Content-Type")?.split(";")[0] ?? "";
  const json = declared.data ?? declared.json;
  const jsonType = declared.type ?? "application/json";
  const media = [...(json === undefined ? [] : [jsonType]), ...(declared.media ?? [])];
  if (media.length > 0) expect([at, media]).toEqual([at, expect.arrayContaining([type])]);
  if (text === undefined || method === "HEAD" || json === undefined || type !== jsonType) return;
  const body = JSON.parse(text);
  const data = declared.data === undefined ? body : body.data;
  if (declared.data !== undefined) {
    expect([at, Object.keys(body).filter((key) => !["success", "message", "data"].includes(key))]).toEqual([at, []]);
    expect([at, body.success]).toEqual([at, true]);
  }
  const parsed = json.safeParse(data);
  if (!parsed.success) throw new Error(`${at} with data that does not fit: ${JSON.stringify(parsed.error.issues)}`);
  // Parsing drops members that the schema does not have, and answers must have none.
  expect([at, data]).toEqual([at, parsed.data]);
}

function checkFailure(operation: Operation, at: string, response: Response, text: string | undefined): void {
  if (text === undefined) return;
  const { schema, media, code } = errorShapes[operation.errors ?? "api"];
  expect([at, response.headers.get("Content-Type")?.split(";")[0]]).toEqual([at, media]);
  const body: unknown = JSON.parse(text);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new Error(`${at} with an error that does not fit: ${JSON.stringify(parsed.error.issues)}`);
  expect([at, body]).toEqual([at, parsed.data]);
  const found = code.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], body) as FailureCode;
  // MCP has errors of its own.
  if (operation.errors === "rpc" && found === undefined) return;
  if (!declaredFailures(operation).includes(found))
    throw new Error(`${at} ${found}, which it does not declare: ${text}`);
  expect([at, response.status]).toEqual([at, statusOf(found)]);
}

function exposed({ headers }: Response): string[] {
  return (headers.get("Access-Control-Expose-Headers") ?? "").split(", ");
}
