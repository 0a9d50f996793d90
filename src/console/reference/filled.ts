import { pathPart } from "../api.ts";
import type { DescribedOperation, Parameter } from "./description.ts";

/** One request of an operation, with everything filled in. */
export interface Filled {
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** undefined if the operation takes none. */
  body: string | undefined;
  type: string | undefined;
}

const places = { path: "path", query: "query", header: "headers" } as const;

/** Name of a field in forms and addresses: `path.tenant`, `query.limit`, `header.If-Match`. */
export function fieldOf({ in: place, name }: Parameter): string {
  return `${place}.${name}`;
}

/** The first example of the declaration: a request that works with the demo's data. */
export function exampleOf({ parameters, body }: DescribedOperation): Filled {
  const filled: Filled = { path: {}, query: {}, headers: {}, body: undefined, type: undefined };
  const chosen = firstExample({ parameters, body });
  for (const parameter of parameters) {
    const { name, in: place, examples, example, required } = parameter;
    const value = examples === undefined ? (required ? example : undefined) : examples[chosen ?? ""]?.value;
    if (value !== undefined) filled[places[place]][name] = Array.isArray(value) ? value.join(",") : String(value);
    else if (place === "path") filled.path[name] = "";
  }
  const [type, content] = Object.entries(body?.content ?? {})[0] ?? [];
  if (type === undefined) return filled;
  const values = content?.examples ?? {};
  const value = (values[chosen ?? ""] ?? Object.values(values)[0])?.value;
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 2);
  // The example may be of another media type than the first, which its header says.
  return { ...filled, body: text, type: filled.headers["Content-Type"] ?? type };
}

/** Examples have names; members of one belong together. */
function firstExample({ parameters, body }: Pick<DescribedOperation, "parameters" | "body">): string | undefined {
  const named = [
    ...parameters.map(({ examples }) => examples),
    ...Object.values(body?.content ?? {}).map(({ examples }) => examples),
  ];
  return named.flatMap((examples) => Object.keys(examples ?? {}))[0];
}

/** What somebody typed, field by field; fields that are absent are as good as empty. */
export function filledIn({ parameters, body }: DescribedOperation, typed: URLSearchParams): Filled {
  const filled: Filled = { path: {}, query: {}, headers: {}, body: undefined, type: undefined };
  for (const parameter of parameters) {
    const value = (typed.get(fieldOf(parameter)) ?? "").trim();
    if (value !== "" || parameter.in === "path") filled[places[parameter.in]][parameter.name] = value;
  }
  if (body === undefined) return filled;
  const types = Object.keys(body.content);
  const type = typed.get("type") ?? "";
  return { ...filled, body: typed.get("body") ?? "", type: types.includes(type) ? type : types[0] };
}

/** Path and query, encoded. A list is written as a repeated parameter. */
export function addressOf({ path: pattern, parameters }: DescribedOperation, { path, query }: Filled): string {
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathPart(path[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const isList = parameters.some((one) => one.in === "query" && one.name === name && one.schema.type === "array");
    for (const one of isList ? value.split(",") : [value]) search.append(name, one.trim());
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
