import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../src");

/** Which rooms a room may look into. Types count as well. */
const allowed: Record<string, readonly string[]> = {
  kernel: [],
  "config.ts": ["kernel"],
  auth: ["kernel"],
  outbound: ["kernel"],
  webhooks: ["kernel"],
  manifest: ["kernel"],
  http: ["kernel", "config.ts", "auth"],
  formats: ["kernel", "manifest"],
  registry: ["kernel", "auth", "http", "manifest", "formats"],
  search: ["kernel", "auth", "http", "manifest", "registry"],
  catalog: ["kernel", "auth", "http", "manifest", "registry"],
  changes: ["kernel", "auth", "http", "registry"],
  hooks: ["kernel", "auth", "http", "manifest", "registry", "webhooks"],
  subscriptions: ["kernel", "config.ts", "http", "manifest", "registry", "outbound", "webhooks"],
  sources: ["kernel", "config.ts", "http", "manifest", "formats", "registry", "outbound"],
  official: ["kernel", "auth", "http", "manifest", "registry", "formats", "outbound"],
  "capability-index": ["kernel", "auth", "http", "manifest", "registry", "config.ts", "search"],
  sessions: ["kernel", "auth", "http", "manifest", "registry", "config.ts", "search", "changes"],
  mcp: [
    "kernel",
    "auth",
    "http",
    "manifest",
    "registry",
    "config.ts",
    "formats",
    "search",
    "capability-index",
    "changes",
    "sessions",
  ],
};
const features = Object.keys(allowed);
Object.assign(allowed, { service: features, objects: features });
for (const file of ["services.ts", "app.ts", "index.ts"]) allowed[file] = Object.keys(allowed);

/** What still points another way. Lines go from here one by one; none is added. */
const open: readonly string[] = [
  "capability-index/deps.ts → objects/contract.ts",
  "catalog/deps.ts → objects/contract.ts",
  "changes/deps.ts → objects/contract.ts",
  "hooks/deps.ts → objects/contract.ts",
  "official/deps.ts → objects/contract.ts",
  "sessions/deps.ts → objects/contract.ts",
  "subscriptions/deps.ts → objects/contract.ts",
];

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

const room = (path: string) => relative(root, path).split("/")[0] ?? "";

interface Import {
  from: string;
  to: string;
}

const importsBy = (statement: RegExp): Import[] =>
  files(root).flatMap((file) =>
    Array.from(readFileSync(file, "utf8").matchAll(statement), (match) => ({
      from: relative(root, file),
      to: relative(root, join(dirname(file), match[1] ?? "")),
    })),
  );
const imports = importsBy(/^(?:import|export)\s+(?!type\b)[^;]*?from\s+"(\.[^"]+)"/gms);
const importsAndTypes = importsBy(/^(?:import|export)\s+[^;]*?from\s+"(\.[^"]+)"/gms);

describe("imports", () => {
  it("point the way the architecture says", () => {
    const wrong = importsAndTypes
      .filter(({ to }) => !to.startsWith(".."))
      .filter(({ from, to }) => {
        const [source, target] = [room(join(root, from)), room(join(root, to))];
        return source !== target && !(allowed[source] ?? []).includes(target);
      })
      .map(({ from, to }) => `${from} → ${to}`);
    expect(wrong.sort()).toEqual(open);
  });

  it("know every room", () => {
    expect(
      files(root)
        .map(room)
        .filter((name) => !(name in allowed)),
    ).toEqual([]);
  });

  it("have no cycles", () => {
    const next = Map.groupBy(imports, ({ from }) => from);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, trail: string[]): void => {
      if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
      if (done.has(file) || trail.includes(file)) return;
      for (const { to } of next.get(file) ?? []) visit(to, [...trail, file]);
      done.add(file);
    };
    for (const file of next.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it("keep bindings and clocks out of the pure rooms", () => {
    const impure = files(root)
      .filter((file) => ["kernel", "manifest", "formats"].includes(room(file)))
      .filter((file) =>
        /\bDate\.now\(|\bnew Date\(\)|cloudflare:workers|\bfetch\(|\bcaches\b/.test(readFileSync(file, "utf8")),
      );
    expect(impure.map((file) => relative(root, file))).toEqual([]);
  });
});
