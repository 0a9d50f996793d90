import { exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { digestOfTextSync } from "../../../src/kernel/digest.ts";
import type { CachedEntrypoint } from "../../../src/kernel/platform/platform-cache.ts";
import { PlatformCacheDouble } from "../../support/platform-cache.ts";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

const [one, other] = ["cache-one", "cache-two"];
let callers: Record<string, string | undefined>;

beforeAll(async () => {
  callers = {
    manager: await token({ sub: "manager", tenants: [one] }),
    member: await token({ sub: "member", tenants: [one], scope: "registry:read" }),
    outsider: await token({ sub: "outsider", tenants: [other] }),
    anyone: undefined,
  };
});

afterEach(() => vi.restoreAllMocks());

/** A release of the Worker in a data centre: memory and Cache API of its own, the platform's cache shared by all. */
function dataCentre(double: PlatformCacheDouble, version = "v1", purge?: CachedEntrypoint["purge"]) {
  const inner = new Registry({ cache: separateCache() });
  const entrypoint = double.entrypoint("PublicAnswers", inner.services.answerPublic, { version });
  const cachedEntrypoint = { ...entrypoint, purge: purge ?? entrypoint.purge };
  const registry = new Registry({ cache: separateCache(), cachedEntrypoint });
  // What a purge gathers for seconds is tested by itself; here it comes at once.
  vi.spyOn(registry.services.publicAnswers as never as Forgetting, "forget").mockImplementation(({ tenant, name }) => {
    void cachedEntrypoint.purge([`server:${tenant}/${name}`]).catch(() => {});
  });
  return { registry, statuses: entrypoint.statuses };
}

interface Forgetting {
  forget(ref: { tenant: string; name: string }): void;
}

const write = (registry: Registry, method: string, path: string, body?: unknown, who = callers["manager"]) =>
  registry.send(method, path, { token: who as string, ...(body === undefined ? {} : { body }) });

async function publish(registry: Registry, tenant: string, name: string, visibility: string, names: string[]) {
  const who = tenant === one ? callers["manager"] : callers["outsider"];
  await write(registry, "POST", configs, { tenant, name, visibility }, who);
  await write(registry, "PUT", capabilities(tenant, name), tools(...names), who);
}

const viewPaths = ["", "/server", "/tools"];

/** Every path that shows a server, as every caller gets it. Strong: what is compared is the same state. */
async function everything(registry: Registry, servers: [string, string][]): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const [tenant, name] of servers) {
    const paths = viewPaths.map((view) => `${capabilities(tenant, name)}${view}`);
    const listed = [`${capabilities(tenant, name)}?include=disabled`, `/api/catalog/${tenant}/${name}`];
    for (const path of [...paths, ...listed]) {
      for (const [caller, who] of Object.entries(callers)) {
        const options = { headers: { "Cache-Control": "no-cache" }, ...(who === undefined ? {} : { token: who }) };
        const { status, text, headers } = await registry.send("GET", path, options);
        seen[`${caller} ${path}`] = [status, text, headers.get("ETag")];
      }
    }
  }
  return seen;
}

describe("the platform's cache", () => {
  it("answers a second data centre without the Worker behind it, with the same bytes", async () => {
    const double = new PlatformCacheDouble();
    const [near, far] = [dataCentre(double), dataCentre(double)];
    await publish(near.registry, one, "shared", "public", ["a", "b"]);
    const path = capabilities(one, "shared");
    const strong = { headers: { "Cache-Control": "no-cache" } };
    const read = (registry: Registry) => registry.send("GET", path, { token: callers["member"] as string, ...strong });
    const [first, second] = [await read(near.registry), await read(far.registry)];
    expect([near.statuses, far.statuses]).toEqual([["MISS"], ["HIT"]]);
    expect(second.text).toBe(first.text);
    expect(second.text).toBe((await read(new Registry({ cache: separateCache() }))).text);
    // From memory now: the platform is not asked again.
    await read(far.registry);
    expect(far.statuses).toEqual(["HIT"]);
  });

  it("shows nobody another answer than the registry without it, whatever was read before by whom", async () => {
    const double = new PlatformCacheDouble();
    const centres = [dataCentre(double), dataCentre(double), dataCentre(double, "v2")];
    const [{ registry: writer }] = centres as [(typeof centres)[0]];
    const plain = new Registry({ cache: separateCache() });
    const servers: [string, string][] = [
      [one, "open"],
      [one, "closed"],
      [other, "open"],
    ];
    await publish(writer, one, "open", "public", ["same", "switched"]);
    await publish(writer, one, "closed", "tenant", ["canary_closed"]);
    // The same content as the open server of the other tenant: the same digest.
    await publish(writer, other, "open", "public", ["same", "switched"]);
    const off = { items: [{ kind: "tool", name: "switched", enabled: false }] };
    const steps: [string, () => Promise<unknown>][] = [
      ["as published", async () => {}],
      ["an item switched off", () => write(writer, "PATCH", capabilities(one, "open"), off)],
      ["another revision", () => write(writer, "PUT", capabilities(one, "open"), tools("canary_new"))],
      ["narrowed", () => write(writer, "PATCH", config(one, "open"), { visibility: "tenant" })],
      ["public again", () => write(writer, "PATCH", config(one, "open"), { visibility: "public" })],
      ["deleted", () => write(writer, "DELETE", config(one, "open"))],
      ["made again by the same name", () => publish(writer, one, "open", "tenant", ["canary_again"])],
    ];
    for (const [at, [step, change]] of steps.entries()) {
      await change();
      // The other servers stay as they are, so they are looked at first and last.
      const looked = at === 0 || at === steps.length - 1 ? servers : servers.slice(0, 1);
      const expected = await everything(plain, looked);
      for (const { registry } of centres) expect(await everything(registry, looked), step).toEqual(expected);
    }
    const hits = centres.map(({ statuses }) => statuses.filter((status) => status === "HIT").length);
    // Another release has a cache of its own, and nobody before it filled that.
    expect(hits.map((count) => count > 0)).toEqual([false, true, false]);
    const stored = JSON.stringify(double.stored());
    expect(stored).not.toContain("canary_closed");
    expect(stored).not.toContain("canary_again");
    expect(stored).toContain("same");
  });

  it("forgets a server that was narrowed or deleted, and no other", async () => {
    const double = new PlatformCacheDouble();
    const { registry } = dataCentre(double);
    for (const name of ["leaves", "goes", "stays"]) {
      await publish(registry, one, name, "public", ["a"]);
      await registry.send("GET", `/api/catalog/${one}/${name}`);
    }
    const names = () => [...new Set(double.stored().map(({ path }) => path.split("/")[3]))].sort();
    expect([names(), double.purges]).toEqual([["goes", "leaves", "stays"], 0]);
    await write(registry, "PATCH", config(one, "leaves"), { visibility: "tenant" });
    await write(registry, "DELETE", config(one, "goes"));
    await write(registry, "PUT", capabilities(one, "stays"), tools("b"));
    expect([names(), double.purges]).toEqual([["stays"], 2]);
  });

  it.each<[string, CachedEntrypoint["purge"]]>([
    ["refused", async () => ({ success: false, errors: [{ code: 1, message: "rate limit" }] })],
    ["lost", () => Promise.reject(new Error("gone"))],
  ])("keeps every promise where a purge is %s", async (how, purge) => {
    const double = new PlatformCacheDouble();
    const [near, far] = [dataCentre(double, "v1", purge), dataCentre(double, "v1", purge)];
    const name = `promised-${how}`;
    await publish(near.registry, one, name, "public", ["a"]);
    const path = `/api/catalog/${one}/${name}`;
    for (const { registry } of [near, far]) expect((await registry.send("GET", path)).status).toBe(200);
    const { body } = await write(near.registry, "PATCH", config(one, name), { visibility: "tenant" });
    expect(Date.parse(body.data.effectiveBy)).toBeGreaterThan(Date.now());
    expect(double.stored()).not.toEqual([]);
    const now = { headers: { "Cache-Control": "no-cache" } };
    for (const { registry } of [near, far]) expect((await registry.send("GET", path, now)).status).toBe(401);
  });

  it("reads as without it where the entrypoint fails", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const hasCache = async () => true;
    const cachedEntrypoint = { fetch: () => Promise.reject(new Error("overloaded")), purge: vi.fn(), hasCache };
    const registry = new Registry({ cache: separateCache(), cachedEntrypoint });
    await publish(registry, one, "failing", "public", ["a"]);
    const { status, body } = await registry.send("GET", `/api/catalog/${one}/failing`);
    expect([status, body.data.tools.map(({ name }: { name: string }) => name)]).toEqual([200, ["a"]]);
  });
});

describe("the cached entrypoint", () => {
  const ask = (path: string, context?: string) =>
    exports.PublicAnswers.fetch(
      new Request(
        `https://rollcall.invalid${path}`,
        context === undefined ? {} : { headers: { "Rollcall-Context": context } },
      ),
    );

  /** The request that a gateway sends for the capabilities of a server. */
  async function requestFor(name: string): Promise<Request> {
    let sent: Request | undefined;
    const fetch = async (request: Request) => {
      sent ??= request;
      return new Response(null, { status: 404 });
    };
    const registry = new Registry({
      cache: separateCache(),
      cachedEntrypoint: { fetch, purge: vi.fn(), hasCache: async () => true },
    });
    await publish(registry, one, name, "public", [`tool_of_${name}`]);
    await registry.send("GET", `/api/catalog/${one}/${name}`);
    if (sent === undefined) throw new Error("nothing was asked of the entrypoint");
    return sent;
  }

  it("answers what the gateway asks, for a day, with the tags of tenant and server", async () => {
    const response = await exports.PublicAnswers.fetch(await requestFor("Entry"));
    expect(response.headers.get("Cache-Control")).toBe("public, max-age=86400");
    expect(response.headers.get("Cache-Tag")).toBe(`tenant:${one},server:${one}/Entry`);
    expect(response.headers.get("Vary")).toBeNull();
    expect(await response.text()).toContain("tool_of_Entry");
  });

  it("keeps nothing of a request whose path is not that of its head", async () => {
    const [mine, theirs] = [await requestFor("mine"), await requestFor("theirs")];
    const context = theirs.headers.get("Rollcall-Context") ?? "";
    const { pathname } = new URL(mine.url);
    const changed = pathname.replace(/sha256-[0-9a-f]{64}\/c4$/, `${digestOfTextSync("x")}/c4`);
    for (const [path, sent] of [
      [pathname, context],
      [pathname, undefined],
      [pathname, "bm90IEpTT04="],
      [changed, mine.headers.get("Rollcall-Context") ?? ""],
      [`${pathname}?x=1`, mine.headers.get("Rollcall-Context") ?? ""],
      [`${pathname}d`, mine.headers.get("Rollcall-Context") ?? ""],
      ["/", undefined],
      [`/body/${one}/mine/${digestOfTextSync("x")}/1`, undefined],
      ["/body/%E0%A4%A/x/y/1", undefined],
    ] as const) {
      const response = await ask(path, sent);
      expect([path, response.status, response.headers.get("Cache-Control")]).toEqual([path, 404, "no-store"]);
    }
  });

  it("says so where the platform has no cache", async () => {
    const { success, errors } = await exports.PublicAnswers.purge(["a"]);
    expect([success, errors[0]?.message]).toEqual([false, "the platform has no cache here"]);
  });

  it("is not used where the platform has no cache", async () => {
    expect(await exports.PublicAnswers.hasCache()).toBe(false);
    expect(
      (await exports.default.fetch("https://a.example/api/whoami").then((answer) => answer.json())) as unknown,
    ).toMatchObject({ data: { registry: { features: { platform_cache: false } } } });
  });
});
