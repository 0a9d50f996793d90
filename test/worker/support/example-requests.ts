import { z } from "zod";
import type { Example, Operation } from "../../../src/http/operation.ts";
import { innerOf } from "../../../src/http/read-parameters.ts";
import { operations } from "../../../src/operations.ts";
import type { Answer, Registry } from "./registry.ts";

/** A request as `Registry.send` takes it. */
export interface ExampleRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

/** The request of an example; parameters that it leaves open have the example values of their schemas. */
export function requestOf(operation: Operation, example: Example = firstExample(operation)): ExampleRequest {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(example.path?.[name] ?? sampleOf(operation, name)),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(example.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return {
    method: operation.method.toUpperCase(),
    path: query.size === 0 ? path : `${path}?${query}`,
    headers: { ...example.headers },
    ...(example.body === undefined ? {} : { body: example.body }),
  };
}

export function firstExample({ examples = {} }: Operation): Example {
  return Object.values(examples)[0] ?? {};
}

function sampleOf({ parameters }: Operation, name: string): string {
  const schema = parameters?.path?.[name];
  const examples = schema && z.globalRegistry.get(innerOf(schema).schema)?.examples;
  const sample: unknown = Array.isArray(examples) ? examples[0] : undefined;
  return typeof sample === "string" ? sample : "x";
}

/** The request of an example with what the example before it gives, which is run first. */
export async function prepareExample(
  registry: Registry,
  operation: Operation,
  example: Example,
  token: string | undefined,
): Promise<ExampleRequest> {
  const taken = example.after === undefined ? {} : await takeFrom(registry, example.after, token);
  const { path: segments = {}, query: parameters = {} } = operation.parameters ?? {};
  const members = Object(example.body);
  const those = (test: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(taken).filter(([name]) => test(name)));
  const inPath = those((name) => name in segments);
  const inQuery = those((name) => name in parameters);
  const inBody = those((name) => name in members);
  const inHeaders = those((name) => !(name in segments) && !(name in parameters) && !(name in members));
  const request = requestOf(operation, {
    ...example,
    path: { ...example.path, ...inPath },
    query: { ...example.query, ...inQuery },
    body: Object.keys(inBody).length === 0 ? example.body : { ...members, ...inBody },
  });
  return { ...request, headers: { ...request.headers, ...inHeaders } };
}

/** Runs an example, and before it the one that it says comes first. */
export async function runExample(
  registry: Registry,
  operation: Operation,
  example: Example,
  token: string | undefined,
): Promise<Answer> {
  const { method, path, headers, body } = await prepareExample(registry, operation, example, token);
  const request = {
    headers,
    ...(token === undefined || operation.access.token === "none" ? {} : { token }),
    ...(body === undefined ? {} : { body }),
  };
  if (!isStream(operation)) return registry.send(method, path, request);
  // A stream goes on: that it has started is enough.
  const response = await registry.fetch(method, path, request);
  await response.body?.cancel();
  return { status: response.status, headers: response.headers, text: "", body: undefined };
}

function isStream({ answers }: Operation): boolean {
  return Object.values(answers).some(
    ({ media, json, data }) => media?.includes("text/event-stream") && !(json ?? data),
  );
}

async function takeFrom(registry: Registry, { id, take }: NonNullable<Example["after"]>, token: string | undefined) {
  const before = operations.find((operation) => operation.id === id);
  if (before === undefined) throw new Error(`there is no operation ${id}`);
  const { status, text, headers, body } = await runExample(registry, before, firstExample(before), token);
  // A version that an earlier example has published is there.
  if (status >= 400 && body?.code !== "ErrorVersionExists") throw new Error(`${id} answers ${status}: ${text}`);
  return take({ body, headers });
}
