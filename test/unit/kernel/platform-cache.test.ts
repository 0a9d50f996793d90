import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { type CachedEntrypoint, PlatformCache } from "../../../src/kernel/platform/platform-cache.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { PlatformCacheDouble } from "../../support/platform-cache.ts";

const keep = { "Cache-Control": "public, max-age=60" };
let ran = 0;
/** An entrypoint that numbers its answers, so that a kept one is known. */
const counting =
  (headers: Record<string, string> = keep, status = 200) =>
  async () =>
    new Response(status === 204 ? null : `answer ${++ran}`, { status, headers });
const at = (path: string, init?: RequestInit) => new Request(`https://a.example${path}`, init);

/** What the cache says to a second request, after a first. */
async function second(first: Request, next: Request, run = counting()): Promise<string | undefined> {
  const { fetch, statuses } = new PlatformCacheDouble().entrypoint("E", run);
  await fetch(first);
  await fetch(next);
  return statuses[1];
}

describe("the key of the platform's cache", () => {
  it.each<[string, Request, Request, string]>([
    ["the same path", at("/a"), at("/a"), "HIT"],
    ["another path", at("/a"), at("/b"), "MISS"],
    ["another query", at("/a?x=1"), at("/a?x=2"), "MISS"],
    ["the query in another order", at("/a?x=1&y=1"), at("/a?y=1&x=1"), "MISS"],
    ["a slash at the end", at("/a"), at("/a/"), "MISS"],
    ["another host", at("/a"), new Request("https://b.example/a"), "HIT"],
    ["HEAD after GET", at("/a"), at("/a", { method: "HEAD" }), "HIT"],
    ["GET after HEAD", at("/a", { method: "HEAD" }), at("/a"), "HIT"],
    ["POST", at("/a", { method: "POST" }), at("/a", { method: "POST" }), "DYNAMIC"],
    ["another token", at("/a", auth("x")), at("/a", auth("y")), "HIT"],
    ["another language", at("/a", { headers: { "Accept-Language": "de" } }), at("/a"), "HIT"],
    ["a header that some take for the path", at("/a"), at("/a", { headers: { "X-Original-URL": "/b" } }), "MISS"],
  ])("%s", async (_, first, next, status) => {
    expect(await second(first, next)).toBe(status);
  });

  it("has entrypoint, version and props", async () => {
    const double = new PlatformCacheDouble();
    const statuses = async (name: string, options = {}) => {
      const { fetch, statuses: seen } = double.entrypoint(name, counting(), options);
      await fetch(at("/a"));
      return seen[0];
    };
    expect(await statuses("E")).toBe("MISS");
    expect(await statuses("E")).toBe("HIT");
    expect(await statuses("F")).toBe("MISS");
    expect(await statuses("E", { version: "v2" })).toBe("MISS");
    expect(await statuses("E", { props: { tenant: "a" } })).toBe("MISS");
    expect(await statuses("E", { version: "v3", crossVersion: true })).toBe("MISS");
    expect(await statuses("E", { version: "v4", crossVersion: true })).toBe("HIT");
  });
});

describe("what the platform's cache stores", () => {
  it.each<[string, Record<string, string>, number, string]>([
    ["max-age", keep, 200, "HIT"],
    ["nothing said", {}, 200, "HIT"],
    ["a 404 of which nothing is said", {}, 404, "HIT"],
    ["a 500 of which nothing is said", {}, 500, "BYPASS"],
    ["no-store", { "Cache-Control": "no-store" }, 200, "BYPASS"],
    ["private", { "Cache-Control": "private, max-age=60" }, 200, "BYPASS"],
    ["a cookie", { ...keep, "Set-Cookie": "a=b" }, 200, "BYPASS"],
    ["a part", keep, 206, "BYPASS"],
    ["a failure of the platform", keep, 520, "BYPASS"],
    ["Vary: *", { ...keep, Vary: "*" }, 200, "BYPASS"],
    ["the platform's own header first", { ...keep, "cloudflare-cdn-cache-control": "no-store" }, 200, "BYPASS"],
  ])("%s", async (_, headers, status, expected) => {
    expect(await second(at("/a"), at("/a"), counting(headers, status))).toBe(expected);
  });

  it("an answer to a token only if it says that it is public", async () => {
    const control = { "Cache-Control": "max-age=60" };
    expect(await second(at("/a", auth("x")), at("/a", auth("x")), counting(control))).toBe("BYPASS");
    expect(await second(at("/a", auth("x")), at("/a"), counting(keep))).toBe("HIT");
  });

  it("a variant for each value of a header that an answer varies by", async () => {
    const varied = counting({ ...keep, Vary: "Accept" });
    const accept = (type: string) => at("/a", { headers: { Accept: type } });
    expect(await second(accept("x"), accept("y"), varied)).toBe("MISS");
    expect(await second(accept("x"), accept("x"), varied)).toBe("HIT");
  });

  it("for as long as it says", async () => {
    let now = 0;
    const { fetch, statuses } = new PlatformCacheDouble(() => now).entrypoint("E", counting());
    for (const time of [0, 59_999, 60_000]) {
      now = time;
      await fetch(at("/a"));
    }
    expect(statuses).toEqual(["MISS", "HIT", "MISS"]);
  });

  it("without its tags", async () => {
    const { fetch } = new PlatformCacheDouble().entrypoint("E", counting({ ...keep, "Cache-Tag": "a" }));
    expect((await fetch(at("/a"))).headers.get("Cache-Tag")).toBeNull();
  });
});

describe("a purge of the platform's cache", () => {
  const tagged = counting({ ...keep, "Cache-Tag": "Server:a, other, ünsound" });

  it.each<[string, object, string]>([
    ["a tag in any case", { tags: ["SERVER:A"] }, "MISS"],
    ["another tag", { tags: ["server:b"] }, "HIT"],
    ["a tag that is not ASCII was dropped", { tags: ["ünsound"] }, "HIT"],
    ["a prefix of the path", { pathPrefixes: ["/a"] }, "MISS"],
    ["another prefix", { pathPrefixes: ["/b"] }, "HIT"],
    ["either of both", { tags: ["nothing"], pathPrefixes: ["/a"] }, "MISS"],
    ["everything", { purgeEverything: true }, "MISS"],
  ])("%s", async (_, what, status) => {
    const double = new PlatformCacheDouble();
    const { fetch, statuses } = double.entrypoint("E", tagged);
    await fetch(at("/a"));
    double.purge("E", what);
    await fetch(at("/a"));
    expect(statuses[1]).toBe(status);
  });

  it("does not reach another entrypoint", async () => {
    const double = new PlatformCacheDouble();
    const { fetch, statuses } = double.entrypoint("E", tagged);
    await fetch(at("/a"));
    double.purge("F", { purgeEverything: true });
    await fetch(at("/a"));
    expect(statuses[1]).toBe("HIT");
  });

  it("is refused above a hundred operations, and above the rate of the free plan", () => {
    let now = 0;
    const double = new PlatformCacheDouble(() => now);
    const tags = Array.from({ length: 101 }, (_, index) => `t${index}`);
    expect(double.purge("E", { tags }).success).toBe(false);
    const many = () => Array.from({ length: 30 }, () => double.purge("E", { tags: ["a"] }).success);
    expect(many().filter(Boolean)).toHaveLength(25);
    now = 60_000;
    expect(many().filter(Boolean)).toHaveLength(5);
  });
});

describe("the registry's use of it", () => {
  function using(entrypoint: Partial<CachedEntrypoint>) {
    const alive: Promise<unknown>[] = [];
    const cache = new PlatformCache({
      entrypoint: {
        fetch: async () => new Response(null, { status: 404 }),
        purge: accepted,
        hasCache: async () => true,
        ...entrypoint,
      },
      now: () => 0,
      wait: async () => {},
      keepAlive: (promise) => alive.push(promise),
      usage: createUsage(),
    });
    return { cache, settled: () => Promise.all(alive) };
  }
  const accepted: CachedEntrypoint["purge"] = async () => ({ success: true, errors: [] });

  it("sends nothing of a caller along, and takes nothing but a 200", async () => {
    const fetch = vi.fn(async (_: Request) => new Response("bytes"));
    const { cache } = using({ fetch });
    expect(new TextDecoder().decode(await cache.read("/view/a", "Y29udGV4dA=="))).toBe("bytes");
    const [request] = fetch.mock.calls[0] ?? [];
    expect([request?.method, [...(request?.headers.keys() ?? [])]]).toEqual(["GET", ["rollcall-context"]]);
    expect(await using({}).cache.read("/view/a", "")).toBeUndefined();
  });

  it("counts as a miss where it fails, and for a context that no header has room for", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const fetch = vi.fn(() => Promise.reject(new Error("overloaded")));
    const { cache } = using({ fetch });
    expect(await cache.read("/view/a", "")).toBeUndefined();
    expect(error.mock.calls[0]?.[0]).toContain("platform cache read");
    expect(await cache.read("/view/a", "x".repeat(40_000))).toBeUndefined();
    expect(fetch).toHaveBeenCalledTimes(1);
    error.mockRestore();
  });

  it("purges together what comes together, a hundred at most", async () => {
    const purge = vi.fn(accepted);
    const { cache, settled } = using({ purge });
    for (let index = 0; index < 150; index += 1) cache.purge([`server:a/${index}`, "server:a/0"]);
    await settled();
    expect(purge.mock.calls.map(([tags]) => tags.length)).toEqual([100, 50]);
    cache.purge(["server:a/0"]);
    await settled();
    expect(purge.mock.calls.map(([tags]) => tags.length)).toEqual([100, 50, 1]);
  });

  it("is asked of the entrypoint behind the cache, once, and left alone where it says that there is none", async () => {
    const hasCache = vi.fn(async () => false);
    const [fetch, purge] = [vi.fn(), vi.fn(accepted)];
    const { cache, settled } = using({ hasCache, fetch, purge });
    // Before anything is known.
    cache.purge(["a"]);
    await settled();
    expect(await cache.read("/view/a", "")).toBeUndefined();
    cache.purge(["b"]);
    expect(await cache.read("/view/b", "")).toBeUndefined();
    await settled();
    expect([hasCache.mock.calls.length, fetch.mock.calls.length, purge.mock.calls.length]).toEqual([1, 0, 0]);
  });

  it("is asked again where the question fails, and reads go on without it", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const hasCache = vi.fn(async () => true).mockRejectedValueOnce(new Error("overloaded"));
    const { cache } = using({ hasCache, fetch: async () => new Response("bytes") });
    expect(await cache.read("/view/a", "")).toBeUndefined();
    expect(await cache.read("/view/a", "")).toBeDefined();
    expect(await cache.isPresent()).toBe(true);
    expect(hasCache).toHaveBeenCalledTimes(2);
    error.mockRestore();
  });

  it.each<[string, CachedEntrypoint["purge"]]>([
    ["refused", async () => ({ success: false, errors: [{ code: 10, message: "rate limit" }] })],
    ["lost", () => Promise.reject(new Error("gone"))],
  ])("tries tags again with the next purge where one is %s, and says so", async (_, failing) => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const purge = vi.fn(accepted).mockImplementationOnce(failing);
    const { cache, settled } = using({ purge });
    cache.purge(["a"]);
    await settled();
    expect(error.mock.calls[0]?.[0]).toContain("platform cache purge");
    cache.purge(["b"]);
    await settled();
    expect(purge.mock.calls[1]).toEqual([["a", "b"]]);
    error.mockRestore();
  });

  it("keeps no more tags than it may", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const purge = vi.fn<CachedEntrypoint["purge"]>(async () => ({ success: false, errors: [] }));
    const { cache, settled } = using({ purge });
    for (let index = 0; index < 1_200; index += 1) cache.purge([`t${index}`]);
    await settled();
    expect(purge.mock.calls.at(-1)?.[0][0]).toBe("t200");
    error.mockRestore();
  });
});

describe("wrangler.toml and src/index.ts", () => {
  it("export the same, cache one entrypoint, and never what the world reaches", async () => {
    const { unstable_readConfig } = await import("wrangler");
    const index = readFileSync("src/index.ts", "utf8");
    const exported = [
      ...Array.from(index.matchAll(/^export \{ (\w+) \}/gm), ([, name = ""]) => name),
      ...Array.from(index.matchAll(/^export class (\w+)/gm), ([, name = ""]) => name),
    ];
    const entrypoints = Array.from(
      index.matchAll(/^export class (\w+) extends WorkerEntrypoint/gm),
      ([, name = ""]) => name,
    );
    for (const env of ["", "staging"]) {
      const config = unstable_readConfig({ config: "wrangler.toml", env }, { hideWarnings: true }) as unknown as Config;
      const objects = config.durable_objects.bindings.map(({ class_name }) => class_name);
      expect(Object.keys(config.exports).sort()).toEqual([...entrypoints, "default"].sort());
      expect([...objects, ...entrypoints].sort()).toEqual(exported.sort());
      const cached = Object.entries(config.exports).flatMap(([name, { cache }]) => (cache.enabled ? [name] : []));
      expect([config.cache.enabled, cached]).toEqual([true, ["PublicAnswers"]]);
      expect(config.exports["default"]?.cache).toEqual({ enabled: false });
      // Answers of one release are not those of the next.
      expect(config.cache.cross_version_cache ?? false).toBe(false);
    }
  });
});

interface Config {
  exports: Record<string, { type: string; cache: { enabled: boolean } }>;
  cache: { enabled: boolean; cross_version_cache?: boolean };
  durable_objects: { bindings: { class_name: string }[] };
}

function auth(token: string): RequestInit {
  return { headers: { Authorization: `Bearer ${token}` } };
}
