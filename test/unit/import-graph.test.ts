import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../src");

/** Which rooms a room may look into. Types may be looked at from anywhere: they leave nothing behind. */
const allowed: Record<string, readonly string[]> = {
  schemas: [],
  domain: ["schemas"],
  views: ["schemas", "domain"],
  formats: ["schemas", "domain"],
  auth: ["schemas", "domain", "storage"],
  storage: ["schemas", "domain", "views"],
  objects: ["schemas", "domain", "storage", "formats", "webhooks", "sources", "config.ts"],
  webhooks: ["schemas", "domain"],
  sources: ["schemas", "domain", "version.ts"],
  reading: ["schemas", "domain", "views", "formats", "auth", "storage"],
  negotiation: ["schemas", "domain", "auth", "storage", "reading", "version.ts"],
  mcp: ["schemas", "domain", "views", "auth", "storage", "reading", "negotiation", "self.ts", "version.ts"],
  http: ["schemas", "domain", "views", "formats", "auth", "storage", "reading", "version.ts"],
  middleware: ["schemas", "domain", "auth", "storage", "http", "negotiation"],
  routes: [
    ...[
      "schemas",
      "domain",
      "views",
      "formats",
      "auth",
      "storage",
      "http",
      "reading",
      "negotiation",
      "mcp",
      "webhooks",
    ],
    ...["official.ts", "publish.ts", "register-generator.ts", "self.ts", "version.ts"],
  ],
  "official.ts": ["schemas", "domain", "formats"],
  "publish.ts": ["schemas", "domain"],
  "register-generator.ts": ["schemas", "domain", "publish.ts"],
  "self.ts": ["domain", "formats", "runtime.ts", "version.ts"],
  "runtime.ts": [],
  "services.ts": ["auth", "domain", "objects", "sources", "storage", "config.ts", "metrics.ts"],
  "app.ts": ["domain", "http", "middleware", "routes"],
  "index.ts": ["app.ts", "config.ts", "services.ts", "objects"],
  "config.ts": ["domain"],
  "metrics.ts": [],
  "version.ts": [],
  openapi: ["schemas", "version.ts"],
};

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

const imports: Import[] = files(root).flatMap((file) =>
  Array.from(
    readFileSync(file, "utf8").matchAll(/^(?:import|export)\s+(?!type\b)[^;]*?from\s+"(\.[^"]+)"/gms),
    (match) => ({
      from: relative(root, file),
      to: relative(root, join(dirname(file), match[1] ?? "")),
    }),
  ),
);

describe("imports", () => {
  it("point the way the architecture says", () => {
    const wrong = imports
      .filter(({ to }) => !to.startsWith(".."))
      .filter(({ from, to }) => {
        const [source, target] = [room(join(root, from)), room(join(root, to))];
        return source !== target && !(allowed[source] ?? []).includes(target);
      })
      .map(({ from, to }) => `${from} → ${to}`);
    expect(wrong).toEqual([]);
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
      .filter((file) => ["domain", "views", "formats", "schemas"].includes(room(file)))
      .filter((file) =>
        /\bDate\.now\(|\bnew Date\(\)|cloudflare:workers|\bfetch\(|\bcaches\b/.test(readFileSync(file, "utf8")),
      );
    expect(impure.map((file) => relative(root, file))).toEqual([]);
  });
});
