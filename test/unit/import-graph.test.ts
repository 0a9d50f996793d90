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

/** What still points another way (house.md 1.1). Lines go from here one by one; none is added. */
const open: readonly string[] = [
  "capability-index/advertise.ts → services.ts",
  "capability-index/budget.ts → services.ts",
  "capability-index/read.ts → services.ts",
  "capability-index/render.ts → services.ts",
  "capability-index/routes.ts → services.ts",
  "catalog/read.ts → services.ts",
  "catalog/routes.ts → services.ts",
  "changes/contract.ts → sessions/contract.ts",
  "changes/follow-log.ts → objects/stream-object.ts",
  "changes/read.ts → services.ts",
  "changes/routes.ts → services.ts",
  "changes/routes.ts → sessions/owner.ts",
  "hooks/inbound-routes.ts → services.ts",
  "hooks/routes.ts → services.ts",
  "http/context.ts → sessions/contract.ts",
  "http/event-stream.ts → services.ts",
  "http/observe.ts → services.ts",
  "http/page.ts → services.ts",
  "http/request.ts → services.ts",
  "http/respond.ts → services.ts",
  "http/response-cache.ts → services.ts",
  "kernel/etag.ts → registry/contract.ts",
  "mcp/resources/follow-resources.ts → objects/stream-object.ts",
  "mcp/resources/index-resources.ts → services.ts",
  "mcp/resources/own-index.ts → services.ts",
  "mcp/resources/own-manifest.ts → services.ts",
  "mcp/resources/resources.ts → services.ts",
  "mcp/resources/routes.ts → services.ts",
  "mcp/server/caller.ts → services.ts",
  "mcp/server/complete.ts → services.ts",
  "mcp/server/response-cache.ts → services.ts",
  "mcp/server/routes.ts → services.ts",
  "mcp/tools/routes.ts → services.ts",
  "mcp/tools/tool.ts → services.ts",
  "official/publish.ts → services.ts",
  "official/read.ts → services.ts",
  "official/routes.ts → services.ts",
  "official/sql/publish-version.ts → search/sql/pending-items.ts",
  "official/write-routes.ts → services.ts",
  "registry/access.ts → services.ts",
  "registry/cache/bodies.ts → objects/tenant/tenant-object.ts",
  "registry/cache/heads.ts → objects/tenant/tenant-object.ts",
  "registry/capabilities-routes.ts → mcp/resources/own-manifest.ts",
  "registry/capabilities-routes.ts → services.ts",
  "registry/capability-routes.ts → services.ts",
  "registry/capability.ts → services.ts",
  "registry/configs-routes.ts → services.ts",
  "registry/generators/register.ts → services.ts",
  "registry/generators/routes.ts → services.ts",
  "registry/import-routes.ts → services.ts",
  "registry/publish.ts → services.ts",
  "registry/read.ts → services.ts",
  "registry/revisions-routes.ts → services.ts",
  "registry/revisions.ts → services.ts",
  "registry/servers.ts → services.ts",
  "registry/sql/publish.ts → search/sql/tenant-cards.ts",
  "registry/sql/settings.ts → hooks/sql/hooks.ts",
  "registry/sql/settings.ts → official/sql/tenant-versions.ts",
  "registry/sql/settings.ts → search/sql/pending-items.ts",
  "registry/sql/settings.ts → search/sql/tenant-cards.ts",
  "registry/sql/withdraw.ts → official/sql/tenant-versions.ts",
  "registry/sql/withdraw.ts → search/sql/tenant-cards.ts",
  "registry/write.ts → services.ts",
  "search/routes.ts → services.ts",
  "search/search.ts → services.ts",
  "search/visible-cards.ts → services.ts",
  "service/discovery-routes.ts → services.ts",
  "service/schemas-routes.ts → services.ts",
  "service/status-routes.ts → services.ts",
  "sessions/context/capability.ts → services.ts",
  "sessions/context/choose.ts → services.ts",
  "sessions/extension.ts → services.ts",
  "sessions/follow-chosen.ts → objects/stream-object.ts",
  "sessions/middleware.ts → services.ts",
  "sessions/negotiate-routes.ts → mcp/resources/index-resources.ts",
  "sessions/negotiate-routes.ts → mcp/resources/resources.ts",
  "sessions/negotiate-routes.ts → mcp/tools/tools.ts",
  "sessions/negotiate-routes.ts → services.ts",
  "sessions/open.ts → services.ts",
  "sessions/owner.ts → services.ts",
  "sessions/session-cache.ts → objects/stubs.ts",
  "sessions/session-routes.ts → services.ts",
  "sources/refresher.ts → official/server-json.ts",
  "sources/refresher.ts → official/sql/tenant-versions.ts",
  "sources/routes.ts → services.ts",
  "subscriptions/deliveries.ts → objects/tenant/outbox.ts",
  "subscriptions/routes.ts → services.ts",
  "subscriptions/subscriptions.ts → objects/tenant/outbox.ts",
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
