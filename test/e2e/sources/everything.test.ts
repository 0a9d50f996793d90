import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Everything, freePort, startEverything } from "../support/everything.ts";
import { stopAll } from "../support/process.ts";
import { type RegistryProcess, startRegistry } from "../support/registry-process.ts";
import { startUpstreamAt, tool, type Upstream } from "../support/upstream.ts";

/**
 * The reference server of the MCP project as a source, over both transports: changed, moved, stopped, removed, and two at
 * once. After each step, every way of finding capabilities says what the table in docs/how-to/sources.md says.
 */

let registry: RegistryProcess;
let http: Everything;
let sse: Everything;
let other: Upstream | undefined;

beforeAll(async () => {
  [registry, http, sse] = await Promise.all([
    startRegistry("t", { ALLOW_LOOPBACK_FETCH: "true" }),
    startEverything("streamableHttp"),
    startEverything("sse"),
  ]);
});

afterAll(async () => {
  await other?.stop();
  await registry?.remove();
  await stopAll();
});

const name = "reference";
const server = `/api/mcp/capabilities/t/${name}`;
const over = (id: string, type: "streamable-http" | "sse", url: string) => ({ id, type, url });
const setSources = (...sources: object[]) =>
  registry.send("PUT", "/api/mcp/configs", { tenant: "t", name, sources: sources.length === 0 ? null : sources });
const refresh = async () => (await registry.send("POST", `${server}/refresh`)).body.data;

type Named = { name: string };
type Row = { step: string; shown: string; status: string; says: string; log: string };

/** Names of tools that each surface shows; they must agree. */
async function shown(): Promise<string[]> {
  const read = async () => {
    const { body } = await registry.send("GET", server);
    const view = await registry.send("GET", `${server}/tools`);
    const index = await registry.send("POST", "/api/index/t/budget", { budget: 1_000_000, servers: [name] });
    const search = await registry.send("GET", `/api/search?task=${name}&kind=tool&limit=100`);
    const negotiated = await registry.send("POST", "/mcp/negotiate", {
      ...{ client_name: "test", client_version: "1", supported_capabilities: ["dev.rollcall/context"] },
      extensions: { "dev.rollcall/context": { task: name, budget: 1_000_000 } },
    });
    const categories = Object.values(view.body.tools_by_category) as Named[][];
    const ofIds = (items: { id: string; kind?: string }[]) =>
      items.flatMap(({ id }) => id.split(`mcp.${name}.`)[1]?.replaceAll("~2E", ".") ?? []);
    const tools = new Set<string>(body.data.tools.map((one: Named) => one.name));
    const isTool = (one: string) => tools.has(one);
    return {
      tools: [...tools].sort(),
      view: categories.flatMap((list) => list.map((one) => one.name)).sort(),
      search: ofIds(search.body.data.items).sort(),
      negotiation: ofIds(negotiated.body.extensions["dev.rollcall/context"].items).filter(isTool).sort(),
      index: ofIds(index.body.data.items).filter(isTool).sort(),
      inIndex: index.body.data.items.length,
      offered: ["tools", "prompts", "resources", "resourceTemplates"].flatMap((list) => body.data[list]).length,
    };
  };
  return vi.waitFor(async () => {
    const { tools, view, search, negotiation, index, inIndex, offered } = await read();
    expect({ view, search, negotiation, index, inIndex }).toEqual({
      ...{ view: tools, search: tools, negotiation: tools, index: tools, inIndex: offered },
    });
    return tools;
  }, 10_000);
}

const rows: Row[] = [];
let all: string[] = [];

/** Notes what is seen now as a row of the table. */
async function note(step: string, since: number): Promise<Row> {
  const tools = await shown();
  const { registry: known, ...declared } = (await registry.send("GET", server)).body.data;
  const data = { ...declared, ...known };
  const { items } = (await registry.send("GET", `/api/changes/t?since=${since}&limit=1000`)).body.data;
  const classes = new Set<string>(
    items.flatMap(({ kind, classification }: { kind: string; classification: string }) =>
      kind === "tool" || classification === "advisory" ? [classification] : [],
    ),
  );
  const prefixed = all.map((one) => `sse.${one}`);
  const sets: [string, string[]][] = [
    ["what it offers", all],
    ["what it offers now", ["only"]],
    ["of both, with the second's names as `sse.…`", [...all, ...prefixed].sort()],
    ["what the second offers, names kept", prefixed.sort()],
    ["nothing", []],
  ];
  const row = {
    step,
    shown: sets.find(([, wanted]) => JSON.stringify(wanted) === JSON.stringify(tools))?.[0] ?? tools.join(),
    status: data.sources?.map(({ id, status }: { id: string; status: string }) => `${id} ${status}`).join(", ") ?? "–",
    says: [data.stale ? "`stale`" : "", ...(data.warnings ?? []).filter((text: string) => !text.startsWith("tools:"))]
      .filter((text) => text !== "" && !/^(prompts|resources|resourceTemplates): /.test(text))
      .join("; "),
    log: [...classes].sort().join(", "),
  };
  rows.push(row);
  return row;
}

const sequence = async () => (await registry.send("GET", "/api/changes/t?limit=1")).body.data.head.sequence as number;

it("is told truly at every step", { timeout: 180_000 }, async () => {
  await registry.send("POST", "/api/mcp/configs", {
    ...{ tenant: "t", name, sources: [over("http", "streamable-http", http.url)] },
  });
  await refresh();
  const first = (await registry.send("GET", server)).body.data;
  all = first.tools.map((one: Named) => one.name).sort();
  expect(all).toContain("echo");
  expect(all.length).toBeGreaterThan(8);
  expect(first.prompts.length + first.resources.length + first.resourceTemplates.length).toBeGreaterThan(3);
  await note("read", 0);

  let since = await sequence();
  await http.stop();
  other = await startUpstreamAt(http.port, tool("only"));
  await refresh();
  await note("changed at the same address", since);

  since = await sequence();
  await other.stop();
  await refresh();
  await note("stopped", since);

  since = await sequence();
  const nowhere = `http://127.0.0.1:${await freePort()}/mcp`;
  await setSources(over("http", "streamable-http", nowhere));
  expect((await registry.send("GET", server)).body.data.tools).toEqual([]);
  await refresh();
  await note("moved to an address that does not answer", since);

  since = await sequence();
  http = await startEverything("streamableHttp");
  await setSources(over("http", "streamable-http", http.url));
  await refresh();
  await note("moved to one that does", since);

  since = await sequence();
  await setSources(over("http", "streamable-http", http.url), over("sse", "sse", sse.url));
  await refresh();
  await note("a second source added", since);

  since = await sequence();
  await sse.stop();
  await refresh();
  await note("the second stopped", since);

  since = await sequence();
  await setSources(over("sse", "sse", sse.url));
  await refresh();
  await note("the first removed, the second still stopped", since);

  since = await sequence();
  await setSources();
  await note("the last removed", since);

  const table = rows.map(
    ({ step, shown: what, status, says, log }) => `| ${[step, what, status, says, log].join(" | ")} |`,
  );
  const docs = await readFile(join(import.meta.dirname, "../../../docs/how-to/sources.md"), "utf8");
  const section = docs.split("## Step by step")[1]?.split("\n## ")[0] ?? "";
  expect(
    section
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(2),
  ).toEqual(table);
});
