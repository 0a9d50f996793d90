import { pointer } from "../../domain/issue.ts";
import { isObject } from "./values.ts";

export interface Flattened {
  flat: Record<string, string | number | boolean>;
  /** Keys that more than one path leads to, with the paths as pointers. The first keeps the key. */
  collisions: { key: string; paths: string[] }[];
}

/** Metadata as one level, keys joined with `_`: `{mcp: {server_url}}` → `mcp_server_url`. Lists and nil are dropped. */
export function flatten(metadata: Record<string, unknown>): Flattened {
  const values = new Map<string, string | number | boolean>();
  const paths = new Map<string, string[]>();
  const waiting: { key: string; path: string; value: unknown }[] = [{ key: "", path: "", value: metadata }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { key, path, value } = next;
    if (isObject(value)) {
      // Last in, first out: pushed backwards, they come out in their order.
      for (const [name, child] of Object.entries(value).reverse()) {
        waiting.push({ key: path === "" ? name : `${key}_${name}`, path: pointer(path, name), value: child });
      }
      continue;
    }
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") continue;
    if (!values.has(key)) values.set(key, value);
    const known = paths.get(key);
    if (known === undefined) paths.set(key, [path]);
    else known.push(path);
  }
  const collisions = Array.from(paths, ([key, found]) => ({ key, paths: found })).filter(
    (entry) => entry.paths.length > 1,
  );
  return { flat: Object.fromEntries(values), collisions };
}
