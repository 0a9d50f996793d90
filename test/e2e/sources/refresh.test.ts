import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { importSigningKey } from "../../../src/webhooks/keys.ts";
import { signWebhook } from "../../../src/webhooks/sign.ts";
import { declared } from "../support/peers/declared.ts";
import { startPeer } from "../support/peers/introspecting.ts";
import { stopAll } from "../support/process.ts";
import { type RegistryProcess, startRegistry } from "../support/registry-process.ts";
import { startUpstream, tool, type Upstream } from "../support/upstream.ts";

let registry: RegistryProcess;
const upstreams: Upstream[] = [];

let keyed: Upstream;

beforeAll(async () => {
  keyed = await upstream(tool("a"));
  const key = { value: "Bearer upstream-secret", origin: new URL(keyed.url).origin };
  registry = await startRegistry("t", {
    ALLOW_LOOPBACK_FETCH: "true",
    SOURCE_CREDENTIALS: JSON.stringify({ t: { key }, other: { theirs: key } }),
  });
});

afterAll(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
  await registry?.remove();
  await stopAll();
});

async function upstream(...tools: Record<string, unknown>[]): Promise<Upstream> {
  const started = await startUpstream(...tools);
  upstreams.push(started);
  return started;
}

const capabilities = (name: string) => `/api/mcp/capabilities/t/${name}`;
const source = (id: string, url: string, more: object = {}) => ({ id, type: "streamable-http", url, ...more });
const register = (name: string, ...sources: object[]) =>
  registry.send("POST", "/api/mcp/configs", { tenant: "t", name, sources });
const read = async (name: string) => registry.send("GET", capabilities(name));
const refresh = async (name: string) => (await registry.send("POST", `${capabilities(name)}/refresh`)).body.data;
// biome-ignore lint/suspicious/noExplicitAny: names of an answer's tools
const names = (answer: any) => answer.body.data.tools.map((one: { name: string }) => one.name);

describe("a server with a source", () => {
  it.each([
    ["modern-peer.ts", "/mcp", "streamable-http", "2026-07-28"],
    ["streamable-peer.ts", "/mcp", "streamable-http", "2025-streamable"],
    ["sse-peer.ts", "/sse", "sse", "sse"],
  ])("built with an official SDK (%s) is read whole", async (script, path, type, era) => {
    const peer = await startPeer(script);
    const name = script.replace(".ts", "");
    expect((await register(name, { id: "main", type, url: peer.url + path })).status).toBe(201);
    const { status, body } = await read(name);
    expect(status).toBe(200);
    expect(body.data.tools).toHaveLength(declared.tools.length);
    expect(body.data.prompts).toHaveLength(declared.prompts.length);
    expect(body.data.resources).toHaveLength(declared.resources.length);
    expect(body.data.resourceTemplates).toHaveLength(declared.resourceTemplates.length);
    for (const wanted of declared.tools as Record<string, unknown>[]) {
      const found = body.data.tools.find((one: { name: string }) => one.name === wanted.name);
      expect(found).toMatchObject(wanted);
      expect(found.metadata).toMatchObject({
        mcp: { server_url: peer.url + path, tool_name: wanted.name },
        discovery: { method: "mcp_introspection", introspector_version: expect.any(String) },
      });
      expect(found.permissions.length + found.effects.length).toBeGreaterThan(0);
    }
    expect(body.data.registry.sources).toMatchObject([{ id: "main", status: "live", since: expect.any(String) }]);
    const settings = await registry.send("GET", `/api/mcp/configs/t/${name}`);
    expect(settings.body.data.registry.sources).toMatchObject([{ id: "main", era, failures: 0 }]);
  });

  it("that offers the same again moves lastSynced and nothing else", async () => {
    const up = await upstream(tool("a"));
    await register("steady", source("main", up.url));
    const before = await read("steady");
    const again = await refresh("steady");
    expect(again).toMatchObject({ outcome: "unchanged", failures: [] });
    const after = await read("steady");
    expect(after.body.data.lastSynced > before.body.data.lastSynced).toBe(true);
    expect(after.headers.get("ETag")).toBe(before.headers.get("ETag"));
    expect(again.generation).toBe(Number(before.headers.get("Rollcall-Generation")));
  });

  it("that offers something else shows it with the next read", async () => {
    const up = await upstream(tool("a"), tool("b"));
    await register("moving", source("main", up.url));
    await read("moving");
    up.tools = [tool("b", "Does b better."), tool("c")];
    expect((await refresh("moving")).outcome).toBe("applied");
    expect(names(await read("moving"))).toEqual(["b", "c"]);
  });

  it("whose settings change is read again at once, and not at all once it is deleted", async () => {
    const [first, second] = [await upstream(tool("a")), await upstream(tool("z"))];
    await register("resourced", source("main", first.url));
    await read("resourced");
    await registry.send("PUT", "/api/mcp/configs", {
      tenant: "t",
      name: "resourced",
      sources: [source("main", second.url)],
    });
    await vi.waitFor(async () => expect(names(await read("resourced"))).toEqual(["z"]), 10_000);
    await registry.send("DELETE", "/api/mcp/configs/t/resourced");
    const seen = second.requests;
    expect((await registry.send("POST", `${capabilities("resourced")}/refresh`)).status).toBe(404);
    expect(second.requests).toBe(seen);
  });
});

describe("several sources", () => {
  it("give one manifest, in which the first keeps a name that both have, and the other one is reported", async () => {
    const [one, two] = [await upstream(tool("same"), tool("a")), await upstream(tool("same"), tool("b"))];
    await register("both", source("one", one.url), source("two", two.url));
    const answer = await read("both");
    expect(names(answer)).toEqual(["a", "b", "same", "two.same"]);
    expect(answer.body.data.registry.warnings.join()).toContain("same");
  });

  it("of which one fails lose nothing, and say so", async () => {
    const [one, two] = [await upstream(tool("a")), await upstream(tool("b"), tool("same"))];
    one.tools.push(tool("same"));
    await register("half", source("one", one.url), source("two", two.url));
    const before = await read("half");
    two.status = 503;
    const refreshed = await refresh("half");
    expect(refreshed).toMatchObject({ failures: [{ id: "two", reason: "unavailable" }] });
    const after = await read("half");
    expect(names(after)).toEqual(names(before));
    expect(after.body.data.registry.digest).toBe(before.body.data.registry.digest);
    expect(after.body.data.registry.sources).toMatchObject([
      { id: "one", status: "live" },
      { id: "two", status: "unreachable", error: "unavailable" },
    ]);
    expect(after.body.data).not.toHaveProperty("stale");
    expect(after.body.data.registry.warnings[0]).toBe("Source two is unreachable; showing its last known capabilities");
    two.status = undefined;
    await refresh("half");
    expect((await read("half")).body.data.registry.sources[1]).toMatchObject({ status: "live" });
  });

  it("that all fail leave the last good copy, marked stale", async () => {
    const up = await upstream(tool("a"));
    await register("stale", source("main", up.url));
    await read("stale");
    up.status = 500;
    expect((await refresh("stale")).outcome).toBe("failed");
    const answer = await read("stale");
    expect([answer.status, names(answer), answer.body.data.registry.stale]).toEqual([200, ["a"], true]);
  });

  it("that were never read fail the read and say why", async () => {
    const up = await upstream();
    up.status = 500;
    await register("never", source("main", up.url));
    const answer = await read("never");
    const said = 'initialize returned HTTP 500 and says "no"';
    expect([answer.status, answer.body.error]).toEqual([
      502,
      {
        code: "ErrorSourceUnavailable",
        message: `Failed to fetch capabilities: main is unreachable (unavailable): ${said}`,
        details: { hint: expect.stringContaining("GET /api/mcp/configs/t/never") },
      },
    ]);
  });
});

describe("asking a source", () => {
  it.each([
    [401, "gated", "gated"],
    [403, "gated", "gated"],
    [404, "not-mcp", "not-mcp"],
    [503, "unreachable", "unavailable"],
  ])("that answers %d finds it %s", async (code, status, error) => {
    const up = await upstream();
    up.status = code;
    await register(`probe-${code}`, source("main", up.url));
    const refreshed = await refresh(`probe-${code}`);
    expect(refreshed.sources).toMatchObject([{ id: "main", status, error }]);
  });

  it("as often as one likes is not possible", async () => {
    const up = await upstream(tool("a"));
    await register("asked", source("main", up.url));
    const statuses: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      statuses.push((await registry.send("POST", `${capabilities("asked")}/refresh`)).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(200));
    expect(statuses).toContain(429);
  });

  it("at an address that is refused sends nothing", async () => {
    await register("inside", source("main", "https://169.254.169.254/latest"));
    expect((await refresh("inside")).sources).toMatchObject([{ status: "unreachable", error: "refused" }]);
  });

  it("of a server without sources is refused by name", async () => {
    await registry.send("PUT", capabilities("plain"), { tools: [] });
    const answer = await registry.send("POST", `${capabilities("plain")}/refresh`);
    expect([answer.status, answer.body.error.code]).toEqual([409, "ErrorNoSources"]);
  });

  it("sends the credential it names to the origin that is meant, and nothing else to anyone", async () => {
    const stranger = await upstream(tool("a"));
    const credential = { secret: "key" };
    await register("keyed", source("main", keyed.url, { credential }));
    await register("diverted", source("main", stranger.url, { credential }));
    const shown = [await read("keyed"), await read("diverted")];
    expect(new Set(keyed.authorizations)).toEqual(new Set(["Bearer upstream-secret"]));
    const before = keyed.authorizations.length;
    await register("borrowed", source("main", keyed.url, { credential: { secret: "theirs" } }));
    await read("borrowed");
    expect(new Set(keyed.authorizations.slice(before))).toEqual(new Set([undefined]));
    expect(stranger.authorizations.filter((header) => header !== undefined)).toEqual([]);
    shown.push(await registry.send("GET", "/api/mcp/configs/t/keyed"));
    expect(JSON.stringify(shown.map(({ body }) => body))).not.toContain("upstream-secret");
  });

  it("two sources of one id are refused", async () => {
    const answer = await register("twins", source("x", "https://a.example/"), source("x", "https://b.example/"));
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toContain("/sources has two sources of one id");
  });
});

describe("a hook that says that something changed", () => {
  it("has the sources read, and the next reads show it", async () => {
    const up = await upstream(tool("a"));
    await register("told", source("main", up.url));
    await read("told");
    const hook = (await registry.send("POST", "/api/hooks", { tenant: "t", server: "told" })).body.data;
    up.tools = [tool("a"), tool("b")];
    const body = JSON.stringify({ type: "manifest.changed", data: { sequence: 1, kinds: ["tool"] } });
    const key = await importSigningKey(hook.secret);
    if (!key.ok) throw new Error(key.error);
    const signed = await signWebhook({ id: "msg_1", body: new TextEncoder().encode(body) }, [key.value], Date.now());
    if (!signed.ok) throw new Error(signed.error);
    const url = new URL(hook.url).pathname;
    const answer = await registry.send("POST", url, body, signed.value as unknown as Record<string, string>);
    expect([answer.status, answer.body.outcome]).toEqual([202, "applied"]);
    expect(names(await read("told"))).toEqual(["a", "b"]);
  });
});

describe("a reading", () => {
  it("is one generation, status and items together", async () => {
    const up = await upstream(tool("a"));
    const { head } = (await registry.send("GET", "/api/changes/t?limit=1")).body.data;
    await register("single", source("main", up.url));
    const { body } = await read("single");
    expect(body.data.tools).toHaveLength(1);
    const log = (await registry.send("GET", `/api/changes/t?since=${head.sequence}`)).body.data.items;
    const mine = log.filter((one: { server: string }) => one.server === "single");
    // Registered, then read: the item and what the source was found to be.
    expect(new Set(mine.map(({ generation }: { generation: number }) => generation)).size).toBe(2);
    expect(mine.at(-1).reasons).toMatchObject([{ path: "/sources/main", message: "source is live" }]);
  });

  it("that was asked for while another was under way sees what changed since that one began", async () => {
    const up = await upstream(tool("a"));
    await register("late", source("main", up.url));
    await read("late");
    up.delayMs = 1_000;
    const first = refresh("late");
    await vi.waitFor(() => expect(up.answering).toBeGreaterThan(0), 5_000);
    up.tools = [tool("a"), tool("b")];
    up.delayMs = 0;
    const [one, two] = await Promise.all([first, refresh("late")]);
    expect([one.outcome, two.outcome]).toEqual(["unchanged", "applied"]);
    expect(names(await read("late"))).toEqual(["a", "b"]);
  });

  it("that cannot be published is a failure of its sources, told and not thrown", async () => {
    const up = await upstream(...Array.from({ length: 6_000 }, (_, n) => tool(`t${n}`)));
    const other = await upstream(...Array.from({ length: 6_000 }, (_, n) => tool(`u${n}`)));
    await register("crowd", source("one", up.url), source("two", other.url));
    const refreshed = await refresh("crowd");
    expect(refreshed).toMatchObject({ outcome: "failed", sources: [{ error: "error" }, { error: "error" }] });
    expect(refreshed.failures[0].message).toContain("at most 10000 capabilities");
  });

  it("tells readers nothing in the words of its source", async () => {
    const up = await upstream(tool("a"), { name: "bad name with a secret", inputSchema: {} });
    await register("discreet", source("main", up.url));
    const { body } = await read("discreet");
    expect(names({ body })).toEqual(["a"]);
    expect(body.data.registry.warnings.length).toBeGreaterThan(0);
  });
});

describe("settings of a source", () => {
  it.each([
    [{ url: "" }, "/sources/0/url"],
    [{ url: "not a url" }, "/sources/0/url"],
    [{ url: "ftp://example.com/" }, "/sources/0/url"],
    [{ credential: { secret: "" } }, "/sources/0/credential/secret"],
    [{ credential: { secret: "key", header: "bad header" } }, "/sources/0/credential/header"],
  ])("%j are refused by name", async (more, path) => {
    const answer = await register("odd", { id: "x", type: "streamable-http", url: "https://a.example/", ...more });
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toContain(path);
  });
});

describe("a restart", () => {
  it("keeps what was read and what is known of the sources", async () => {
    const up = await upstream(tool("a"));
    await register("lasting", source("main", up.url));
    await read("lasting");
    const before = await registry.send("GET", "/api/mcp/configs/t/lasting");
    registry = await registry.restart();
    const after = await registry.send("GET", "/api/mcp/configs/t/lasting");
    expect(after.body.data.registry.sources).toEqual(before.body.data.registry.sources);
    expect(names(await read("lasting"))).toEqual(["a"]);
  });
});
