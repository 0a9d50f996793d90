import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { pages } from "../../../src/console/pages.ts";
import worker from "../../../src/index.ts";
import { operations } from "../../../src/operations.ts";
import { demoToken, loadDemo } from "../support/demo.ts";
import { capabilities, configs, drained, Registry, token } from "../support/registry.ts";
import { mainOf, Visitor } from "./visitor.ts";

const registry = new Registry();
const visitor = new Visitor(registry);

beforeAll(async () => {
  await loadDemo(registry);
  await drained("demo");
});

/** `{x}` of a path matches any segment. */
function overlaps(a: string, b: string): boolean {
  const [ours, theirs] = [a, b].map((path) => path.split("/"));
  if (ours?.length !== theirs?.length) return false;
  return (ours ?? []).every((segment, at) => {
    const other = theirs?.[at] ?? "";
    return segment === other || segment.startsWith("{") || other.startsWith("{");
  });
}

describe("the table of pages", () => {
  const reserved = ["/api", "/mcp", "/v0", "/v0.1", "/hooks", "/.well-known", "/schemas"];

  it("takes no path of the API, but the root for browsers", () => {
    const paths = operations.flatMap(({ path, also = [] }) => [path, ...also]);
    const shadowed = pages.flatMap((page) =>
      paths.filter((path) => overlaps(page.path, path) && !page.onlyHtml).map((path) => `${page.path} ${path}`),
    );
    expect(shadowed).toEqual([]);
    expect(pages.filter(({ onlyHtml }) => onlyHtml).map(({ path }) => path)).toEqual(["/"]);
  });

  it("stays out of what belongs to the API", () => {
    const below = pages.filter(({ path }) => reserved.some((prefix) => `${path}/`.startsWith(`${prefix}/`)));
    expect(below.map(({ path }) => path)).toEqual([]);
  });
});

const shown = [
  "/",
  "/servers",
  "/servers?kind=tool&kind=prompt&status=deprecated",
  "/servers?order=updated&updated_since=2026-01-01T00:00:00Z",
  "/servers?updated_since=9000-01-01T00:00:00Z",
  "/servers/demo/weather",
  "/servers/demo/weather/tools",
  "/servers/demo/weather/tools?sort=cost",
  "/servers/demo/weather/prompts",
  "/servers/demo/library/prompts",
  "/servers/demo/library/resources",
  "/servers/demo/weather/connect",
  "/servers/demo/weather/connect?client=cursor",
  "/servers/demo/files/connect?client=vscode",
  "/servers/demo/mail/connect",
  "/servers/demo/almanac",
  "/capabilities/demo/mcp.weather.get_forecast",
  "/capabilities/demo/mcp.weather.get_forecast?format=yaml",
  "/capabilities/demo/mcp.weather.get_forecast?format=rtfs",
  "/capabilities/demo/mcp.weather.get_forecast?format=openai",
  "/capabilities/demo/mcp.weather.get_forecast?format=anthropic",
  "/search",
  "/search?task=will+it+rain+tomorrow&budget=100",
  "/search?task=will+it+rain+tomorrow&budget=300&definitions=openai",
  "/search?task=xyzzy+plugh",
  "/search?task=%2D%2D",
  "/negotiate",
  "/sign-in",
  "/sign-in?next=/servers",
];

/** Names of the servers in a list, in order. */
function serversIn(html: string): (string | undefined)[] {
  return Array.from(mainOf(html).matchAll(/href="\/servers\/[\w-]+\/([\w.-]+)"/g), ([, name]) => name);
}

describe("a page", () => {
  it.each(shown)("%s is whole, within its policy, and of this origin alone", async (path) => {
    const { status, headers, text } = await visitor.get(path);
    expect([path, status, headers.get("Content-Type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
    expect(headers.get("Content-Security-Policy")).toMatch(
      /default-src 'none'; script-src 'self'.*require-trusted-types-for 'script'/,
    );
    expect(["Referrer-Policy", "X-Content-Type-Options"].map((name) => headers.get(name))).toEqual([
      "no-referrer",
      "nosniff",
    ]);
    expect(headers.get("Cache-Control")).toMatch(/^private/);
    expect(headers.has("Access-Control-Allow-Origin")).toBe(false);
    expect(text.match(/<h1/g)).toHaveLength(1);
    expect(text.match(/<main/g)).toHaveLength(1);
    expect(text).toContain("</html>");
    expect(text).not.toMatch(/ style=|<style|<script>|javascript:|undefined|\[object|NaN/);
    const loaded = Array.from(text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g), ([, url]) => url);
    for (const url of loaded) expect(url).toMatch(/^\/console\/static\//);
  });

  it("shows at the root the totals of the catalogue, and what changed last", async () => {
    const { text } = await visitor.get("/");
    const { data } = (await registry.send("GET", "/api/catalog?order=updated&limit=8")).body;
    const counts = Array.from(text.matchAll(/<b>([\d,]+)<\/b> (\w+)/g), ([, count, word]) => [
      word,
      Number(count?.replaceAll(",", "")),
    ]);
    const { servers, capabilities, tokens } = data.totals;
    expect(tokens).toBeGreaterThan(0);
    expect(Object.fromEntries(counts)).toMatchObject({ servers, capabilities, tokens });
    expect(serversIn(text)).toEqual(data.items.map(({ name }: { name: string }) => name));
  });

  it("lists servers by name or the last updated first, and keeps the order in every link", async () => {
    for (const order of ["name", "updated"]) {
      const { text } = await visitor.get(`/servers?order=${order}&kind=tool&updated_since=2026-01-01T00:00:00Z`);
      const { data } = (await registry.send("GET", `/api/catalog?order=${order}&kind=tool`)).body;
      expect([order, serversIn(text)]).toEqual([order, data.items.map(({ name }: { name: string }) => name)]);
      const facets = text.slice(text.indexOf('class="facets"'), text.indexOf('id="results"'));
      const links = Array.from(facets.matchAll(/href="(\/servers[^"]*)"/g), ([, link]) => link ?? "");
      expect(links.length).toBeGreaterThan(5);
      for (const link of links) {
        expect([link, link.includes("order=updated")]).toEqual([link, order === "updated"]);
        expect(link).toContain("updated_since=2026-01-01T00%3A00%3A00.000Z");
      }
      expect(text).toContain('href="/servers?kind=tool&amp;updated_since=2026-01-01T00%3A00%3A00.000Z"');
    }
  });

  it("shows the other values of a filter that is chosen, with what they find", async () => {
    const { text } = await visitor.get("/servers?kind=prompt&status=active");
    const { data } = (await registry.send("GET", "/api/catalog?status=active&facets=kind")).body;
    const shownKinds = Array.from(text.matchAll(/<span>(\w+)<\/span><span class="n">(\d+)/g), ([, word, count]) => [
      word,
      Number(count),
    ]);
    const { tools, prompts } = Object.fromEntries(shownKinds);
    const of = (kind: string) => data.facets.kind.values.find(({ value }: { value: string }) => value === kind).count;
    expect([tools, prompts]).toEqual([of("tool"), of("prompt")]);
    expect(text).toContain('href="/servers?kind=prompt&amp;kind=tool&amp;status=active"');
  });

  it("shows at the root how ten clients connect to the registry", async () => {
    const { text } = await visitor.get("/");
    for (const title of ["Claude Code", "Claude Desktop", "VS Code", "Cursor", "Gemini CLI", "Codex", "curl"])
      expect(text).toContain(`<summary>${title}</summary>`);
  });

  it("is JSON at the root for every caller that is no browser", async () => {
    for (const accept of ["*/*", "application/json", ""]) {
      const { headers, body } = await registry.send("GET", "/", accept === "" ? {} : { headers: { Accept: accept } });
      expect([headers.get("Content-Type"), body.success]).toEqual(["application/json; charset=utf-8", true]);
    }
  });

  it("has files that never change, and no other asset", async () => {
    const { text } = await visitor.get("/");
    const files = Array.from(text.matchAll(/"(\/console\/static\/[^"]+)"/g), ([, path]) => path ?? "");
    for (const path of new Set(files)) {
      const { status, headers } = await visitor.get(path);
      expect([path, status, headers.get("Cache-Control")]).toEqual([path, 200, "public, max-age=31536000, immutable"]);
    }
    for (const path of ["word-vectors.bin", "openapi.json", "files.json", "..%2Fopenapi.json", "nothing.js"])
      expect([path, (await visitor.get(`/console/static/${path}`)).status]).toEqual([path, 404]);
    const icon = await visitor.get("/favicon.ico");
    expect([icon.status, icon.headers.get("Content-Type")]).toEqual([200, "image/svg+xml"]);
    // Its address names no content, so it must not be kept for ever.
    expect(icon.headers.get("Cache-Control")).toBe("public, max-age=86400");
  });

  it("has files that are the same for everybody: neither the cookie nor the limit is looked at", async () => {
    const limited = new Visitor(new Registry());
    limited.cookie = "__Host-rollcall=not-sealed-here";
    const { text, headers } = await limited.get("/servers");
    expect(headers.get("Set-Cookie")).toMatch(/Max-Age=0/);
    const [file = ""] = /\/console\/static\/[^"]+/.exec(text) ?? [];
    limited.registry.services.readLimiter.consume = () => ({ ok: false, retryAfterSeconds: 9 });
    for (const [path, status] of [
      [file, 200],
      ["/favicon.ico", 200],
      ["/console/static/nothing.js", 404],
      ["/servers", 429],
    ] as const) {
      const answer = await limited.get(path);
      expect([path, answer.status, answer.headers.has("Set-Cookie")]).toEqual([path, status, path === "/servers"]);
    }
  });

  it("answers one element for the script, rendered by the same code", async () => {
    const path = "/search?task=will+it+rain&budget=200";
    const whole = await visitor.get(path);
    const part = await visitor.get(path, { "Rollcall-Fragment": "results" });
    expect(part.text).not.toContain("<html");
    expect(whole.text).toContain(part.text);
  });

  it.each(["__proto__", "constructor", "nothing"])(
    "answers the whole page for an element %s that it does not have",
    async (name) => {
      const { status, text } = await visitor.get("/search?task=rain", { "Rollcall-Fragment": name });
      expect([status, text.includes("</html>")]).toEqual([200, true]);
      const failed = await visitor.get("/nothing/here", { "Rollcall-Fragment": name });
      expect([failed.status, failed.text.includes("There is nothing here")]).toEqual([404, true]);
    },
  );

  it("quotes the name of a capability for the shell", async () => {
    const uri = "docs://it's/$(reboot)";
    const body = { resources: [{ uri, name: "odd" }] };
    await registry.send("PUT", capabilities("demo", "odd-names"), { token: await demoToken(), body });
    const member = new Visitor(registry);
    await member.signIn({ sub: "developer", tenants: ["demo"] });
    const { text: list } = await member.get("/servers/demo/odd-names/resources");
    const own = /href="(\/capabilities\/demo\/[^"]+)"/.exec(list)?.[1] ?? "";
    const { status, text } = await member.get(own);
    expect(status).toBe(200);
    expect(text).toContain("show demo/odd-names &#39;docs://it&#39;\\&#39;&#39;s/$(reboot)&#39;");
    await registry.send("DELETE", `${configs}/demo/odd-names`, { token: await demoToken() });
  });

  it("finds what an unfinished word may become while somebody types, until a space ends it", async () => {
    const found = async (query: string) =>
      (await visitor.get(`/search?${query}`, { "Rollcall-Fragment": "results" })).text.includes("get_forecast");
    expect([await found("task=foreca&prefix=true"), await found("task=foreca")]).toEqual([true, false]);
    expect(await found("task=foreca+&prefix=true")).toBe(false);
  });

  it("marks what fits a budget as the API chooses it", async () => {
    for (const budget of [50, 120, 300, 700]) {
      const query = new URLSearchParams({ task: "send the forecast, then file an issue", budget: String(budget) });
      const { text } = await visitor.get(`/search?${query}`);
      const marked = Array.from(text.matchAll(/<li class="in"[^>]*data-name="([^"]+)"/g), ([, name]) => name);
      const { body } = await registry.send("GET", `/api/search?${query}&limit=100`);
      const chosen = body.data.items.map(({ name }: { name: string }) => name);
      expect([budget, marked.sort()]).toEqual([budget, chosen.sort()]);
    }
  });

  it("negotiates from a form, resumes and ends", async () => {
    const fields = {
      capability: "session_resume",
      task: "will it rain",
      budget: "300",
      must: "",
      pins: "",
      others: "",
    };
    const opened = await visitor.post("/negotiate", fields);
    expect([opened.status, opened.headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
    expect(opened.text).toContain("get_observation");
    const resume = /name="resume" value="([^"]+)"/.exec(opened.text)?.[1] ?? "";
    const resumed = await visitor.post("/negotiate", { resume });
    expect(resumed.status).toBe(200);
    expect((await visitor.post("/negotiate", { resume })).status).toBe(401);
    const end = /name="end" value="([^"]+)"/.exec(resumed.text)?.[1] ?? "";
    expect((await visitor.post("/negotiate", { end })).text).toContain("The session has ended");
    expect((await visitor.post("/negotiate", { end })).status).toBe(401);
    for (const [changed, status] of [
      [{ budget: "many" }, 422],
      [{ pins: "mcp.weather.get_forecast nonsense" }, 422],
    ] as const)
      expect((await visitor.post("/negotiate", { ...fields, ...changed })).status).toBe(status);
  });
});

describe("what fails", () => {
  const missing: [path: string, status: number][] = [
    ["/nothing/here", 404],
    ["/servers/demo/wether", 401],
    ["/servers/nobody/nothing", 401],
    ["/servers/de%20mo/x", 400],
    ["/servers/demo/weather/nonsense", 404],
    ["/capabilities/demo/nothing", 401],
    ["/capabilities/demo/mcp.weather.get_forecast?format=xml", 400],
    ["/servers?kind=nonsense", 400],
    [`/search?task=${"a".repeat(10_300)}`, 422],
    ["/search?task=rain&budget=-4", 422],
    ["/search?task=rain&budget=lots", 422],
  ];

  it.each(missing)("%s is a page with a next step", async (path, status) => {
    const answer = await visitor.get(path);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([status, "text/html; charset=utf-8"]);
    expect(answer.headers.get("Cache-Control")).toBe("private, no-store");
    expect(answer.text).toContain("<h1>");
    if (status !== 422) expect(answer.text).toContain("What to do next");
  });

  it("suggests public names that are near", async () => {
    expect((await visitor.get("/servers/demo/wether")).text).toContain('href="/servers/demo/weather"');
  });

  it("starts a list again where a cursor no longer works", async () => {
    const { status, text } = await visitor.get("/servers?cursor=bm9uc2Vuc2U.AAAAAAAAAAAAAAAAAAAAAA");
    expect([status, text.includes("this is the first one again")]).toEqual([200, true]);
  });

  it("takes no method that a page does not have", async () => {
    const { status, headers, text } = await registry.send("DELETE", "/servers", { headers: visitor.headers });
    expect([status, headers.get("Allow"), text.includes("<h1>")]).toEqual([405, "GET, HEAD", true]);
  });

  it("shows a private server of others as if it did not exist", async () => {
    const mine = await token({ tenants: ["hidden"] });
    const body = { tenant: "hidden", name: "secret-plans", visibility: "tenant" };
    await registry.send("POST", configs, { token: mine, body });
    await registry.send("PUT", capabilities("hidden", "secret-plans"), {
      token: mine,
      body: { tools: [{ name: "a" }] },
    });
    await drained("hidden");
    const outsider = new Visitor(registry);
    await outsider.signIn({ sub: "other", tenants: ["demo"] });
    for (const who of [visitor, outsider])
      for (const path of ["", "/tools", "/connect"]) {
        const there = await who.get(`/servers/hidden/secret-plans${path}`);
        const absent = await who.get(`/servers/hidden/absent-plans${path}`);
        expect(there.status).toBe(absent.status);
        expect(mainOf(there.text).replaceAll("secret", "absent")).toBe(mainOf(absent.text));
      }
    const [id, none] = ["mcp.secret-plans.a", "mcp.secret-plans.b"];
    const there = await outsider.get(`/capabilities/hidden/${id}`);
    const absent = await outsider.get(`/capabilities/hidden/${none}`);
    expect(mainOf(there.text).replaceAll(id, none)).toBe(mainOf(absent.text));
    const member = new Visitor(registry);
    await member.signIn({ sub: "owner", tenants: ["hidden"] });
    expect((await member.get("/servers/hidden/secret-plans")).status).toBe(200);
    // What the member saw is not kept for others.
    expect((await visitor.get("/servers/hidden/secret-plans")).status).toBe(401);
  });

  it("tells of a registry that is not available, and when to try again", async () => {
    const broken = new Registry();
    broken.services.directory = () => {
      throw Object.assign(new Error("the object was reset"), { retryable: true });
    };
    const { status, headers, text } = await new Visitor(broken).get("/servers");
    expect([status, headers.get("Retry-After"), headers.get("Content-Type")]).toEqual([
      503,
      "1",
      "text/html; charset=utf-8",
    ]);
    expect(text).toContain('data-retry="1"');
    broken.services.directory = () => {
      throw new Error("a mistake of ours");
    };
    const failed = await new Visitor(broken).get("/servers");
    expect([failed.status, failed.text.includes("a mistake of ours")]).toEqual([500, false]);
    expect(failed.text).toContain(failed.headers.get("X-Request-Id") ?? "no id");
  });

  it("has a page even where its files cannot be read, and where nothing is configured", async () => {
    const assets = { fetch: async () => new Response("gone", { status: 404 }) };
    const bare = new Visitor(new Registry({ vars: { ASSETS: assets } as unknown as Record<string, string> }));
    expect((await bare.get("/sign-in")).text).toContain("<h1>Sign in</h1>");
    const answer = await worker.fetch(
      new Request("https://registry.test/", { headers: { Accept: "text/html" } }),
      { ...env, READ_LIMIT: "nonsense" },
      createExecutionContext(),
    );
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([503, "text/html; charset=utf-8"]);
    expect(await answer.text()).toContain("READ_LIMIT");
  });

  it("says what a server without items is waiting for", async () => {
    const body = { tenant: "demo", name: "bare", visibility: "public" };
    await registry.send("POST", configs, { token: await demoToken(), body });
    const { status, text } = await visitor.get("/servers/demo/bare");
    expect([status, text.includes("Nothing published yet")]).toEqual([200, true]);
    expect((await visitor.get("/servers/demo/bare/connect")).text).toContain("without an address");
  });
});
