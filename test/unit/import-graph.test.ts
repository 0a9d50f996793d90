import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../src");

/** Which rooms a room may import. Types count as imports. docs/explanation/architecture.md says what each room is for. */
const allowed: Record<string, readonly string[]> = {
  kernel: [],
  "config.ts": ["kernel"],
  auth: ["kernel"],
  outbound: ["kernel"],
  webhooks: ["kernel"],
  manifest: ["kernel"],
  http: ["kernel", "config.ts", "auth"],
  formats: ["kernel", "manifest"],
  connect: ["kernel"],
  registry: ["kernel", "auth", "http", "manifest", "formats"],
  directory: ["kernel", "http", "manifest", "registry"],
  search: ["kernel", "auth", "http", "manifest", "registry", "directory"],
  catalog: ["kernel", "auth", "http", "manifest", "registry", "directory"],
  changes: ["kernel", "auth", "http", "registry"],
  flags: ["kernel", "http", "manifest", "registry"],
  hooks: ["kernel", "http", "manifest", "registry", "webhooks"],
  subscriptions: ["kernel", "config.ts", "http", "manifest", "registry", "outbound", "webhooks"],
  sources: ["kernel", "config.ts", "http", "manifest", "formats", "registry", "outbound"],
  official: ["kernel", "auth", "http", "manifest", "formats", "registry", "directory", "outbound"],
  "capability-index": ["kernel", "config.ts", "auth", "http", "manifest", "registry", "search"],
  sessions: ["kernel", "config.ts", "auth", "http", "manifest", "registry", "search", "changes"],
  mcp: [
    ...["kernel", "config.ts", "auth", "http", "manifest", "formats", "registry", "search"],
    ...["capability-index", "changes", "sessions"],
  ],
  console: [
    ...["kernel", "auth", "http", "manifest", "registry", "search", "catalog", "changes", "sessions", "connect"],
    ...["capability-index", "flags", "hooks", "subscriptions", "service"],
  ],
};
const features = Object.keys(allowed);
/** They compose the others: the description of every operation, and the SQL of every feature. */
Object.assign(allowed, { service: features, objects: features });
for (const file of ["operations.ts", "services.ts", "openapi.ts", "app.ts", "index.ts"])
  allowed[file] = Object.keys(allowed);

/** Parts of a room that others reach only through its contract. What composes the rooms may import them. */
const inner: { part: RegExp; importers: readonly string[] }[] = [
  // The registry's own SQL is the write core that the SQL of other features builds on.
  { part: /^(?!registry)[^/]+\/sql\//, importers: ["objects"] },
  { part: /^[^/]+\/cache\//, importers: ["objects", "services.ts"] },
  { part: /^[^/]+\/operations(\.ts|\/)/, importers: ["operations.ts"] },
];

const mostFiles = 25;
const mostLines = 400;

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

const sources = files(root).map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }));
const room = (path: string) => path.split("/")[0] ?? "";

/** Within src, types included. */
const imports = sources
  .flatMap(({ path, text }) =>
    Array.from(text.matchAll(/^(?:import|export)\s+[^;]*?from\s+"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gms), (match) => ({
      from: path,
      to: join(dirname(path), match[1] ?? match[2] ?? ""),
    })),
  )
  .filter(({ to }) => !to.startsWith(".."));
const acrossRooms = imports.filter(({ from, to }) => room(from) !== room(to));
const shown = ({ from, to }: { from: string; to: string }) => `${from} → ${to}`;

/** Every way along the graph that comes back to where it started. */
function cycles(edges: readonly { from: string; to: string }[]): string[] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (node: string, trail: string[]): void => {
    if (trail.includes(node)) found.push([...trail.slice(trail.indexOf(node)), node].join(" → "));
    if (done.has(node) || trail.includes(node)) return;
    for (const { to } of next.get(node) ?? []) visit(to, [...trail, node]);
    done.add(node);
  };
  for (const node of next.keys()) visit(node, []);
  return found;
}

describe("imports", () => {
  it("are found by this test", () => {
    expect(sources.length).toBeGreaterThan(300);
    expect(imports.length).toBeGreaterThan(1_000);
  });

  it("point the way the table of rooms says", () => {
    const wrong = acrossRooms.filter(({ from, to }) => !(allowed[room(from)] ?? []).includes(room(to)));
    expect(wrong.map(shown)).toEqual([]);
  });

  it("know every room", () => {
    expect(sources.map(({ path }) => room(path)).filter((name) => !(name in allowed))).toEqual([]);
  });

  it("use what the table allows", () => {
    const used = new Set(acrossRooms.map(({ from, to }) => `${room(from)} → ${room(to)}`));
    const composing = ["service", "objects", "services.ts", "operations.ts", "openapi.ts", "app.ts", "index.ts"];
    const unused = Object.entries(allowed)
      .filter(([from]) => !composing.includes(from))
      .flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`))
      .filter((edge) => !used.has(edge));
    expect(unused).toEqual([]);
  });

  it("have no cycles, of files or of rooms", () => {
    expect(cycles(imports)).toEqual([]);
    expect(cycles(acrossRooms.map(({ from, to }) => ({ from: room(from), to: room(to) })))).toEqual([]);
  });

  it("leave the inside of a room to the room", () => {
    const wrong = acrossRooms.filter(({ from, to }) =>
      inner.some(({ part, importers }) => part.test(to) && !importers.includes(room(from))),
    );
    expect(wrong.map(shown)).toEqual([]);
  });

  it("keep SQL inside the objects", () => {
    const next = Map.groupBy(imports, ({ from }) => from);
    const reached = new Set<string>();
    const walk = (file: string): void => {
      if (reached.has(file) || room(file) === "objects") return;
      reached.add(file);
      for (const { to } of next.get(file) ?? []) walk(to);
    };
    walk("app.ts");
    expect(reached.size).toBeGreaterThan(200);
    expect([...reached].filter((file) => file.includes("/sql/"))).toEqual([]);
  });

  it("keep bindings and clocks out of the pure rooms", () => {
    const impure = sources
      .filter(({ path }) => ["kernel", "manifest", "formats", "connect"].includes(room(path)))
      .filter(({ path }) => !path.startsWith("kernel/platform/") && path !== "kernel/timeout.ts")
      .filter(({ text }) =>
        /\bDate\.now\b|\bnew Date\(\)|Math\.random|cloudflare:workers|\bfetch\(|\bcaches\.(?:default|open)\b|\bsetTimeout\b|\bscheduler\./.test(
          text,
        ),
      );
    expect(impure.map(({ path }) => path)).toEqual([]);
  });
});

describe("a room", () => {
  it(`has at most ${mostFiles} files in one folder`, () => {
    const folders = Map.groupBy(sources, ({ path }) => dirname(path));
    expect([...folders].filter(([, inside]) => inside.length > mostFiles).map(([folder]) => folder)).toEqual([]);
  });

  it(`has no file of more than ${mostLines} lines`, () => {
    expect(sources.filter(({ text }) => text.split("\n").length > mostLines + 1).map(({ path }) => path)).toEqual([]);
  });

  it("has nothing but exports of other files in an index.ts", () => {
    const indexes = sources.filter(({ path }) => basename(path) === "index.ts" && path !== "index.ts");
    const others = indexes.filter(({ text }) => text.replace(/^export [^;]*? from "[^"]+";\n/gms, "").trim() !== "");
    expect(others.map(({ path }) => path)).toEqual([]);
  });
});

describe("docs/explanation/architecture.md", () => {
  const text = readFileSync(join(root, "../docs/explanation/architecture.md"), "utf8");

  it("has the table of rooms that the imports are held to", () => {
    const rows = text.matchAll(/^\| `([\w-]+)(?:\/|\.ts)`[^|]*\|[^|]*\| ([^|]*) \|$/gm);
    const table = Object.fromEntries(Array.from(rows, ([, name, targets]) => [name, targets?.split(", ").sort()]));
    const plain = (name: string) => name.replace(/\.ts$/, "");
    const expected = features.map((name) => {
      const targets = (allowed[name] ?? []).map(plain).sort();
      return [plain(name), targets.length === 0 ? ["–"] : targets];
    });
    const composing = {
      service: ["every room above"],
      objects: ["every room above but service"],
      operations: ["everything"],
    };
    expect(table).toEqual({ ...Object.fromEntries(expected), ...composing });
  });

  it("names files that exist", () => {
    const walk = text.slice(text.indexOf("## Six requests"), text.indexOf("## A write"));
    const paths = Array.from(walk.matchAll(/`([a-z-]+(?:\/[a-z-]+)*\.ts)`/g), ([, path]) => path ?? "");
    const known = sources.map(({ path }) => path);
    // A name without a folder is in the folder of the path before it.
    const missing = paths.filter((path, index) => {
      const folder = paths.slice(0, index).findLast((other) => other.includes("/")) ?? "";
      return !known.includes(path) && !known.includes(join(dirname(folder), path));
    });
    expect(paths.length).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });
});
