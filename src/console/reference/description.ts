import { isObject } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { ConsoleDeps } from "../deps.ts";

/** The operations as the description that is deployed with the Worker has them: made from the declarations at build time. */

type Json = Record<string, unknown>;

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: Json;
  examples?: Record<string, { value: unknown }>;
  example?: unknown;
}

interface Content {
  schema?: Json;
  examples?: Record<string, { value: unknown }>;
}

interface Answer {
  $ref?: string;
  description?: string;
  headers?: Json;
  content?: Record<string, Content>;
}

export interface DescribedOperation {
  id: string;
  method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
  path: string;
  tag: string;
  summary: string;
  description?: string;
  who: string;
  /** Which proof of who calls it takes. */
  proof: "none" | "token" | "signature";
  parameters: Parameter[];
  body?: { required: boolean; description?: string; content: Record<string, Content> };
  /** What it answers if all is well. */
  answers: { status: string; description: string; content: Record<string, Content> }[];
  /** Codes of what may fail, by status. */
  failures: { status: string; codes: string[] }[];
}

export interface Described {
  tags: { name: string; description: string }[];
  operations: DescribedOperation[];
  /** What schemas refer to. */
  components: Json;
}

interface Document {
  tags: Described["tags"];
  paths: Record<string, Record<string, Json>>;
  components: Json & { responses: Record<string, Answer>; schemas: Record<string, Json> };
}

export async function readDescription({ openapi }: Pick<ConsoleDeps, "openapi">): Promise<Described> {
  const { tags, paths, components } = readJson(await openapi("json")) as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => described(method, path, operation, components)),
  );
  return { tags, operations, components };
}

function described(method: string, path: string, operation: Json, components: Document["components"]) {
  const answers: DescribedOperation["answers"] = [];
  const failures: DescribedOperation["failures"] = [];
  for (const [status, given] of Object.entries(operation.responses as Record<string, Answer>)) {
    if (given.$ref === undefined) {
      answers.push({ status, description: given.description ?? "", content: given.content ?? {} });
      continue;
    }
    const found = components.responses[given.$ref.split("/").at(-1) ?? ""];
    const [content] = Object.values(found?.content ?? {});
    const name = String(content?.schema?.$ref ?? "").split("/");
    failures.push({ status, codes: codesIn(components.schemas[name.at(-1) ?? ""]) });
  }
  return {
    id: String(operation.operationId),
    method: method.toUpperCase() as DescribedOperation["method"],
    path,
    tag: String((operation.tags as string[])[0]),
    summary: String(operation.summary),
    description: operation.description as string | undefined,
    who: String(operation["x-who-may-call"] ?? ""),
    proof: proofOf(operation.security),
    parameters: (operation.parameters ?? []) as Parameter[],
    body: operation.requestBody as DescribedOperation["body"],
    answers,
    failures,
  };
}

function proofOf(security: unknown): DescribedOperation["proof"] {
  const text = JSON.stringify(security ?? []);
  return text.includes("signature") ? "signature" : text.includes("bearer") ? "token" : "none";
}

/** The schema of a failure narrows the member with the code to those that are possible. */
function codesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(codesIn);
  if (!isObject(schema)) return [];
  if (Array.isArray(schema.enum)) return schema.enum.map(String);
  return Object.values(schema).flatMap(codesIn);
}

/** A stream cannot be shown as an answer, and nobody here has the key of a publisher's hook. */
export function canBeTried({ proof, answers }: DescribedOperation): boolean {
  const types = answers.flatMap(({ content }) => Object.keys(content));
  const onlyStream = types.length > 0 && types.every((type) => type === "text/event-stream");
  return proof !== "signature" && !onlyStream;
}
