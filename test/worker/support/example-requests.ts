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

/** Runs an example, and before it the one that it says comes first. */
export async function runExample(
  registry: Registry,
  operation: Operation,
  example: Example,
  token: string | undefined,
): Promise<Answer> {
  const taken = example.after === undefined ? {} : await takeFrom(registry, example.after, token);
  const names = Object.keys(operation.parameters?.path ?? {});
  const inPath = Object.fromEntries(Object.entries(taken).filter(([name]) => names.includes(name)));
  const inHeaders = Object.fromEntries(Object.entries(taken).filter(([name]) => !names.includes(name)));
  const { method, path, headers, body } = requestOf(operation, { ...example, path: { ...example.path, ...inPath } });
  return registry.send(method, path, {
    headers: { ...headers, ...inHeaders },
    ...(token === undefined || operation.access.token === "none" ? {} : { token }),
    ...(body === undefined ? {} : { body }),
  });
}

async function takeFrom(registry: Registry, { id, take }: NonNullable<Example["after"]>, token: string | undefined) {
  const before = operations.find((operation) => operation.id === id);
  if (before === undefined) throw new Error(`there is no operation ${id}`);
  const { status, text, headers, body } = await runExample(registry, before, firstExample(before), token);
  // A version that an earlier example has published is there.
  if (status >= 400 && body?.code !== "ErrorVersionExists") throw new Error(`${id} answers ${status}: ${text}`);
  return take({ body, headers });
}
