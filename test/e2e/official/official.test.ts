import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { serverJsonSchemaUri } from "../../../src/official/schema.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";
import { type Running, runCli, startCli, stopAll } from "../support/process.ts";
import { type SeedEntry, toServerJson } from "../support/seed-entries.ts";
import { startUpstream, tool, type Upstream } from "../support/upstream.ts";

/** On a busy machine the server may close a kept connection in the moment it is used again. */
const unkept = { Connection: "close" };

const data = mkdtempSync(join(tmpdir(), "rollcall-"));
let server: Running;
let base: string;
let headers: Record<string, string>;

beforeAll(async () => {
  // A loader raises the limits it would otherwise meet.
  const settings = [
    "WRITE_LIMIT=100000/100000",
    "READ_LIMIT=100000/100000",
    "ALLOW_LOOPBACK_FETCH=true",
    "WORK_LIMIT=1000000/1000000000",
  ];
  const vars = settings.flatMap((setting) => ["--var", setting]);
  server = startCli("serve.ts", "--port", "0", "--data", data, "--no-demo", ...vars);
  base = (await server.line(/ready (http:\S+)/))[1] ?? "";
  const { stdout } = await runCli("token.ts", "--data", data, "--tenant", "loader", "--admin");
  headers = { Authorization: `Bearer ${stdout.trim()}`, "Content-Type": "application/json", ...unkept };
});

afterAll(async () => {
  await stopAll();
  rmSync(data, { recursive: true, force: true });
});

interface Sent {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  body: any;
}

async function send(method: string, path: string, body?: unknown): Promise<Sent> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(base + path, { method, headers, ...text });
  return { status: response.status, body: await response.json() };
}

const publish = (document: unknown) => send("POST", "/v0.1/publish", document);

/** A few at a time; one after the other would take minutes. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

/** Every page of a list, as anyone reads it. */
async function walk(query: string): Promise<{ server: { name: string; version: string } }[]> {
  const found = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const response = await fetch(`${base}/v0.1/servers?${query}&cursor=${encodeURIComponent(cursor)}`, {
      headers: unkept,
    });
    expect(response.status).toBe(200);
    const page = (await response.json()) as Sent["body"];
    expect(page.metadata.count).toBe(page.servers.length);
    found.push(...page.servers);
    cursor = page.metadata.nextCursor;
  }
  return found;
}

const keysOf = (items: { server: { name: string; version: string } }[]) =>
  items.map(({ server: { name, version } }) => `${name} ${version}`);

describeFixture("the official seed", "registry-official/seed_2025_05_16.json", (file) => {
  const entries = readJson(file) as SeedEntry[];

  it("is published whole and listed back page by page, nothing lost or doubled while writes go on", async () => {
    const blank = entries.filter(({ name }) => name === "");
    const documents = entries.filter(({ name }) => name !== "").map(toServerJson);
    expect([entries.length, documents.length, blank.length]).toEqual([470, 463, 7]);
    for (const entry of blank) expect((await publish(toServerJson(entry))).status).toBe(422);

    const [first, second] = [documents.slice(0, 240), documents.slice(240)];
    const failed: unknown[] = [];
    const load = async (document: { name: string }) => {
      const { status, body } = await publish(document);
      if (status !== 200) failed.push([document.name, status, body]);
    };
    await each(first, load);
    await vi.waitFor(async () => expect(await walk("limit=100")).toHaveLength(240), { timeout: 30_000, interval: 200 });

    // The rest arrives, versions are added and statuses change, while the list is walked again and again.
    const before = first.map(({ name, version }) => `${name} ${version}`);
    let isLoading = true;
    const others = async () => {
      for (let at = 0; isLoading; at += 1) {
        const { name } = first[(7 * at) % first.length] as { name: string };
        await publish({ ...first[at % first.length], name, version: `1.0.${at}`, remotes: undefined });
        const status = at % 2 === 0 ? "deprecated" : "active";
        await send("PATCH", `/v0.1/servers/${encodeURIComponent(before[3]?.split(" ")[0] ?? "")}/status`, { status });
        await send("PUT", `/api/mcp/capabilities/loader/s${at}`, { version: "1.0.0" });
      }
    };
    const loading = Promise.all([others(), each(second, load).finally(() => (isLoading = false))]);
    do {
      const seen = keysOf(await walk("limit=17"));
      const once = new Set(seen);
      expect(once.size).toBe(seen.length);
      expect(before.filter((key) => !once.has(key))).toEqual([]);
    } while (isLoading);
    await loading;
    expect(failed).toEqual([]);

    const wanted = new Map(documents.map((document) => [`${document.name} ${document.version}`, document]));
    await vi.waitFor(
      async () => {
        const listed = await walk("limit=100");
        const keys = keysOf(listed);
        expect(new Set(keys).size).toBe(keys.length);
        const seeds = listed.filter((_, at) => wanted.has(keys[at] ?? ""));
        expect(seeds).toHaveLength(463);
        for (const { server: shown } of seeds) expect(shown).toEqual(wanted.get(`${shown.name} ${shown.version}`));
      },
      { timeout: 30_000, interval: 500 },
    );
    const latest = await walk("limit=50&version=latest");
    expect(new Set(latest.map(({ server: { name } }) => name)).size).toBe(latest.length);
    const entry = wanted.get("io.github.21st-dev/magic-mcp 0.0.1-seed");
    const one = await send("GET", "/v0.1/servers/io.github.21st-dev%2Fmagic-mcp/versions/0.0.1-seed");
    expect(one.body.server).toEqual(entry);
    const inCapitals = documents.filter(({ name }) => name !== name.toLowerCase());
    expect(inCapitals).toHaveLength(100);
    for (const document of inCapitals.slice(0, 10)) {
      const path = `/v0.1/servers/${encodeURIComponent(document.name.toLowerCase())}/versions/${document.version}`;
      expect((await send("GET", path)).body.server).toEqual(document);
    }
  }, 300_000);
});

describeFixture("the official examples", "registry-official/server-json-examples", (folder) => {
  it.each(readdirSync(folder))("%s is refused when published, and called invalid when asked about", async (name) => {
    const document = readJson(join(folder, name));
    const { status, body } = await publish(document);
    expect([status, body.status, body.code, typeof body.error]).toEqual([422, 422, "ErrorServerJsonInvalid", "string"]);
    const { valid, issues } = (await send("POST", "/v0.1/validate", document)).body;
    expect([valid, issues.length > 0]).toEqual([false, true]);
  });
});

describe("a server with a source that is published as a server.json", () => {
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream(tool("forecast"));
  });
  afterAll(() => upstream.stop());

  const read = () => send("GET", "/api/mcp/capabilities/io.github.acme/weather");

  it("is read, keeps what its server.json says, and shows what was found beside it", async () => {
    const document = {
      $schema: serverJsonSchemaUri,
      name: "io.github.acme/weather",
      description: "Forecasts.",
      version: "1.0.0",
      title: "Weather",
      websiteUrl: "https://acme.example/",
    };
    const source = { id: "live", type: "streamable-http", url: upstream.url };
    const config = { tenant: "io.github.acme", name: "weather", visibility: "public", sources: [source] };
    expect((await send("POST", "/api/mcp/configs", config)).status).toBe(201);
    expect((await publish(document)).status).toBe(200);
    const { body } = await vi.waitFor(
      async () => {
        const answer = await read();
        expect(answer.body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["forecast"]);
        return answer;
      },
      { timeout: 20_000, interval: 200 },
    );
    const { $schema: _, name: __, ...fields } = document;
    expect(body.data).toMatchObject({ ...fields, registry: { sources: [{ id: "live", status: "live" }] } });
    // What its first reading found was never another under the same version.
    expect(body.data.registry.flags).toEqual([]);
    const { _meta } = await vi.waitFor(async () => {
      const { body: latest } = await send("GET", "/v0.1/servers/io.github.acme%2Fweather/versions/latest");
      expect(latest._meta["dev.rollcall/registry"].counts).toMatchObject({ tool: 1 });
      return latest;
    });
    expect(_meta["dev.rollcall/registry"]).toMatchObject({ digest: body.data.registry.digest });

    upstream.tools = [tool("forecast"), tool("history")];
    await send("POST", "/api/mcp/capabilities/io.github.acme/weather/refresh");
    const changed = await read();
    expect(changed.body.data).toMatchObject({ ...fields, tools: [{ name: "forecast" }, { name: "history" }] });
    // From then on it is: whoever reviewed 1.0.0 reviewed something else.
    expect(changed.body.data.registry.flags).toMatchObject([{ rule: "same-version" }]);

    expect((await publish({ ...document, version: "1.1.0", title: "Weather 2" })).status).toBe(200);
    expect((await read()).body.data).toMatchObject({ version: "1.1.0", title: "Weather 2", tools: [{}, {}] });
  });
});
