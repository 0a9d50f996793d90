import { beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../support/registry.ts";
import {
  admin,
  expectProblem,
  get,
  json,
  list,
  named,
  official,
  path,
  publish,
  published,
  registry,
  status,
} from "./official-client.ts";

describe("the list of servers", () => {
  beforeAll(async () => {
    await published("lists.a/sure", { description: "Über 100%_sure, with a back\\slash." });
    await published("lists.a/unsure", { description: "100xysure." });
    for (const version of ["1.0.0", "1.1.0"])
      await published("lists.b/two", { version, description: "LISTS of things." });
    await published("lists.c/gone");
    await status("lists.c/gone", "1.0.0", { status: "deleted" });
  });

  it.each([
    ["search=lists.", ["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0", "lists.b/two 1.0.0", "lists.b/two 1.1.0"]],
    ["search=LISTS.A", ["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0"]],
    ["search=0%25_s", ["lists.a/sure 1.0.0"]],
    ["search=k%5Cs", ["lists.a/sure 1.0.0"]],
    ["search=%C3%BCBER", ["lists.a/sure 1.0.0"]],
    ["search=of+things", ["lists.b/two 1.0.0", "lists.b/two 1.1.0"]],
    ["search=lists.&version=latest", ["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0", "lists.b/two 1.1.0"]],
    ["search=lists.b&version=1.0.0", ["lists.b/two 1.0.0"]],
    ["search=lists.c", []],
    ["search=lists.c&include_deleted=true", ["lists.c/gone 1.0.0"]],
    ["search=lists.c&include_deleted=false", []],
    ["search=lists.c&updated_since=2020-01-01T00:00:00Z", ["lists.c/gone 1.0.0"]],
    ["search=lists.c&updated_since=2020-01-01T00:00:00Z&include_deleted=true", ["lists.c/gone 1.0.0"]],
    ["search=lists.&updated_since=2199-01-01T00:00:00%2B02:00", []],
  ])("%s", async (query, expected) => {
    const answer = await list(query);
    expect([answer.status, named(answer)]).toEqual([200, expected]);
    expect(answer.body.metadata).toEqual({ count: expected.length });
  });

  it("is strictly newer than updated_since", async () => {
    const { updatedAt } = (await get(path("lists.b/two", "1.1.0"))).body._meta[official];
    const since = (time: string) => list(`search=lists.b/two&version=1.1.0&updated_since=${time}`);
    expect(named(await since(updatedAt))).toEqual([]);
    const before = new Date(Date.parse(updatedAt) - 1).toISOString();
    expect(named(await since(before))).toEqual(["lists.b/two 1.1.0"]);
  });

  it.each([
    ["q=weather", /^q is not a parameter of this API; send search$/],
    ["q=weather&q=rain", /^q is not a parameter of this API; send search$/],
    ["search=x&query=weather", /^query is .* send search$/],
    ["filter=weather", /^filter is .* send search$/],
    ["cursor=nonsense", /cursor/],
    ["cursor=io.github.acme%2Fweather:1.0.0", /cursor/],
    ["updated_since=yesterday", /updated_since/],
    ["updated_since=2025-01-01", /updated_since/],
    ["updated_since=2025-13-01T00:00:00Z", /updated_since/],
    ["updated_since=2025-01-01T00:00:00Z&include_deleted=false", /include_deleted/],
  ])("%s is refused", async (query, words) => {
    const answer = await list(query);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
    expect(answer.body.error).toBe(answer.body.detail);
  });

  it.each(["limit=0", "limit=101", "limit=ten", "limit=1.5", "include_deleted=maybe", "search=ab", "search=%20ab%20"])(
    "%s is refused with 422, as the official registry does",
    async (query) => {
      const [name = ""] = query.split("=");
      expectProblem(await list(query), 422, "ErrorParameterInvalid", new RegExp(`^${name} must`));
    },
  );

  it.each([
    "limit=",
    "limit=030",
    "limit=30&limit=1",
    "cursor=",
    "search=",
    "updated_since=",
    "version=",
    "include_deleted=F",
  ])("%s is as good as nothing", async (query) => {
    const [plain, given] = [await list("limit=30"), await list(query)];
    expect([given.status, named(given)]).toEqual([200, named(plain)]);
  });

  it("ignores parameters that it does not know, as clients add them against caches", async () => {
    const [plain, added] = [await list("search=lists."), await list("search=lists.&_=1700000000&t=x")];
    expect([added.status, added.body]).toEqual([200, plain.body]);
  });

  it("carries the filters of a list in its cursor, and refuses others beside it", async () => {
    const { body } = await list("search=LISTS.&version=latest&include_deleted=true&limit=1");
    const cursor = encodeURIComponent(body.metadata.nextCursor);
    const rest = ["lists.a/unsure 1.0.0", "lists.b/two 1.1.0", "lists.c/gone 1.0.0"];
    for (const query of ["", "search=lists.&", "version=latest&", "include_deleted=true&search=Lists.&"]) {
      expect([query, named(await list(`${query}cursor=${cursor}`))]).toEqual([query, rest]);
    }
    for (const [query, words] of [
      ["search=lists", /^search contradicts the cursor, which is of a list with search "lists\."/],
      ["version=1.0.0", /^version contradicts .* with version "latest"/],
      ["include_deleted=false", /^include_deleted contradicts/],
      ["updated_since=2020-01-01T00:00:00Z", /^updated_since contradicts .* without updated_since/],
    ] as const) {
      expectProblem(await list(`${query}&cursor=${cursor}`), 400, "ErrorCursorInvalid", words);
    }
    const [payload, signature] = body.metadata.nextCursor.split(".");
    expectProblem(await list(`search=lists.&cursor=${payload.slice(0, -2)}AA.${signature}`), 400, "ErrorCursorInvalid");
  });

  it("goes page by page, and says where it goes on in a link too", async () => {
    const seen: string[] = [];
    let next: string | undefined = "/v0.1/servers?search=lists.&limit=1";
    while (next !== undefined) {
      const answer: Answer = await get(next);
      seen.push(...named(answer));
      next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get("Link") ?? "")?.[1];
      expect(next === undefined).toBe(answer.body.metadata.nextCursor === undefined);
    }
    expect(seen).toEqual(["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0", "lists.b/two 1.0.0", "lists.b/two 1.1.0"]);
  });

  it("shows what existed throughout exactly once, whatever is written meanwhile", async () => {
    const before = Array.from({ length: 9 }, (_, at) => `moving/s${at}`);
    for (const name of before) await published(name);
    for (const filter of ["search=moving/", "search=moving/&version=latest"]) {
      const seen: string[] = [];
      let cursor: string | undefined = "";
      for (let step = 0; cursor !== undefined; step += 1) {
        const answer: Answer = await list(`${filter}&limit=2&cursor=${encodeURIComponent(cursor)}`);
        seen.push(...named(answer).map((text: string) => text.split(" ")[0] ?? ""));
        cursor = answer.body.metadata.nextCursor;
        await published(`moving/s${step}${filter.length}-new`);
        // The latest of the server at which the page ended moves on.
        if (filter.includes("latest")) await published(seen.at(-1) ?? "", { version: `1.0.${step + 1}` });
        else await status(`moving/s${step % 3}`, "all", { status: "deprecated", statusMessage: `${step}` });
      }
      for (const name of before)
        expect([filter, name, seen.filter((other) => other === name).length]).toEqual([filter, name, 1]);
    }
  });

  it("is the same under /v0, for VS Code and for everyone", async () => {
    for (const query of ["limit=1", "limit=50&version=latest"]) {
      const [one, two] = [await get(`/v0.1/servers?${query}`), await get(`/v0/servers?${query}`)];
      expect([two.status, two.body.servers]).toEqual([200, one.body.servers]);
    }
    const preflight = await registry.send("OPTIONS", "/v0.1/publish", {
      headers: { Origin: "https://app.example", "Access-Control-Request-Method": "POST" },
    });
    expect([preflight.status, preflight.text, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([
      204,
      "",
      "*",
    ]);
    expect(preflight.headers.get("Access-Control-Allow-Methods")).toContain("PATCH");
    expect((await list("limit=1")).headers.get("Access-Control-Allow-Origin")).toBe("*");
  });
});

describe("versions", () => {
  const name = "io.github.many/srv";
  beforeAll(async () => {
    for (const version of ["1.9.0", "1.10.0", "1.2.0", "2.0.0-rc.1", "snapshot"]) await published(name, { version });
  });
  const latest = async (server: string) => {
    const { body } = await get(path(server));
    return body.servers
      .filter((item: Record<string, Record<string, Record<string, unknown>>>) => item._meta?.[official]?.isLatest)
      .map(({ server: { version } }: { server: { version: string } }) => version);
  };

  it("are listed with the newest first, one of them the latest", async () => {
    const answer = await get(path(name));
    expect(answer.status).toBe(200);
    expect(named(answer)).toEqual(
      ["snapshot", "2.0.0-rc.1", "1.2.0", "1.10.0", "1.9.0"].map((version) => `${name} ${version}`),
    );
    expect(answer.body.metadata).toEqual({ count: 5 });
    expect(await latest(name)).toEqual(["2.0.0-rc.1"]);
    expect((await get(path(name, "latest"))).body.server.version).toBe("2.0.0-rc.1");
  });

  it("never change", async () => {
    expectProblem(
      await publish(json(name, { version: "1.9.0", description: "Another." })),
      400,
      "ErrorVersionExists",
      /1\.9\.0/,
    );
    expectProblem(await publish(json(name, { version: "1.9.0" })), 400, "ErrorVersionExists");
    expect((await get(path(name, "1.9.0"))).body.server).toEqual(json(name, { version: "1.9.0" }));
    for (const method of ["PUT", "DELETE"]) {
      const body = method === "PUT" ? { body: json(name, { version: "1.9.0" }) } : {};
      expectProblem(
        await registry.send(method, path(name, "1.9.0"), { token: admin, ...body }),
        501,
        "ErrorNotImplemented",
      );
    }
  });

  it("are published once, by whoever is first", async () => {
    const twice = await Promise.all(
      Array.from({ length: 8 }, (_, at) => publish(json("raced/srv", { title: `T${at}` }))),
    );
    expect(twice.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(400)]);
    const winner = twice.find((answer) => answer.status === 200)?.body.server;
    expect((await get(path("raced/srv", "1.0.0"))).body.server).toEqual(winner);
  });

  it("with odd characters are found by their encoded number", async () => {
    for (const version of ["1.0.0+20130313144700", "release/7ü"]) {
      await published("odd/srv", { version });
      expect((await get(path("odd/srv", version))).body.server.version).toBe(version);
    }
  });

  it.each([
    ["a server that there is not", path("io.github.many/none")],
    ["a version that there is not", path(name, "9.9.9")],
    ["a name without a slash", "/v0.1/servers/nothing/versions"],
    ["a name with broken encoding", "/v0.1/servers/%zz%2Fsrv/versions/latest"],
    ["nothing at all", "/v0.1/nothing"],
    ["the root", "/v0.1"],
  ])("404 for %s", async (_, where) => {
    const answer = await get(where);
    expect([answer.status, answer.body.status, typeof answer.body.error]).toEqual([404, 404, "string"]);
  });
});

describe("the small ones", () => {
  it.each([
    ["ping", { pong: true }],
    ["health", { status: "ok" }],
    ["version", { version: expect.stringMatching(/^\d/), name: "rollcall" }],
  ])("%s answers", async (name, expected) => {
    for (const prefix of ["/v0.1", "/v0"]) expect((await get(`${prefix}/${name}`)).body).toEqual(expected);
    expect((await get(`/v0.1/${name}?x=1`)).body).toEqual(expected);
    expectProblem(await registry.send("DELETE", `/v0.1/${name}`), 405, "ErrorMethodNotAllowed");
  });
});

describe("what a stranger tried", () => {
  it("an answer has a tag and says how new it is", async () => {
    await published("io.github.stranger/tagged");
    const first = await list("search=stranger");
    expect(Number(first.headers.get("Rollcall-Generation"))).toBeGreaterThan(0);
    const etag = first.headers.get("ETag") ?? "";
    const again = await registry.send("GET", "/v0.1/servers?search=stranger", { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
  });
});
