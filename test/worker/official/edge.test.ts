import { beforeAll, describe, expect, it, vi } from "vitest";
import { built } from "../directory/edges.ts";
import { type Answer, capabilities, config, configs, drained, Registry, tools } from "../support/registry.ts";
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

const strong = { "Cache-Control": "no-cache" };
const fromObject = (where: string) => registry.send("GET", where, { headers: strong });
const sourceOf = ({ headers }: Answer) => headers.get("Rollcall-Source");

/** Asks until this isolate has its copy of the directory. */
async function loaded(of: Registry = registry): Promise<void> {
  await built();
  await vi.waitFor(async () => expect(sourceOf(await of.send("GET", "/v0.1/servers?limit=2"))).not.toBe("object"), {
    timeout: 10_000,
    interval: 50,
  });
}

beforeAll(async () => {
  // A slash sorts behind a dash and a dot, so that the order of names is not that of tenants.
  for (const name of ["edge.a/one", "edge.a-b/one", "edge.a.b/one", "edge.A/Two"]) await published(name);
  for (const version of ["1.10.0", "1.9.0", "2.0.0"]) {
    await published("edge.many/srv", { version, description: `Version ${version} finds ORCHIDS.` });
  }
  await status("edge.many/srv", "1.9.0", { status: "deleted" });
  await published("edge.gone/srv");
  await status("edge.gone/srv", "all", { status: "deleted", statusMessage: "Gone." });
  await registry.send("POST", configs, {
    token: admin,
    body: { tenant: "edge.own", name: "open", visibility: "public" },
  });
  await registry.send("PUT", capabilities("edge.own", "open"), {
    token: admin,
    body: { ...tools("t"), version: "3.0.0" },
  });
  await registry.send("PUT", capabilities("edge.own", "closed"), { token: admin, body: tools("hidden") });
  for (const tenant of ["edge.a", "edge.a-b", "edge.a.b", "edge.many", "edge.gone", "edge.own"]) await drained(tenant);
  await loaded();
});

describe("this isolate's copy of the directory", () => {
  it.each([
    ...["limit=100", "limit=3", "search=edge.", "search=EDGE.A", "search=orchids", "search=edge.many&version=latest"],
    ...["search=edge.&version=1.0.0", "search=edge.&include_deleted=true", "search=edge.gone", "search=none-of-these"],
    ...["version=latest&limit=100", "version=3.0.0", "updated_since=2020-01-01T00:00:00Z&limit=100"],
    ...["search=edge.&updated_since=2199-01-01T00:00:00Z", "search=edge.gone&updated_since=2020-01-01T00:00:00Z"],
  ])("answers %s as the directory does", async (query) => {
    const where = `/v0.1/servers?${query}`;
    const [there, here] = [await fromObject(where), await get(where)];
    expect([sourceOf(there), ["memory", "edge"].includes(sourceOf(here) ?? "")]).toEqual(["object", true]);
    expect(here.body).toEqual(there.body);
    expect(here.headers.get("ETag")).toBe(there.headers.get("ETag"));
  });

  it.each([
    ...[
      path("edge.many/srv"),
      `${path("edge.many/srv")}?include_deleted=true`,
      path("edge.gone/srv"),
      path("edge.A/Two"),
    ],
    ...[path("edge.many/srv", "latest"), path("edge.many/srv", "1.9.0"), path("edge.own/open", "3.0.0")],
    ...[`${path("edge.many/srv", "1.9.0")}?include_deleted=true`, path("edge.own/closed"), path("edge.none/srv")],
  ])("answers %s as the directory does", async (where) => {
    const [there, here] = [await fromObject(where), await get(where)];
    expect([here.status, here.body]).toEqual([there.status, there.body]);
    if (here.status === 200) expect(sourceOf(here)).not.toBe("object");
  });

  it("and the directory take turns on the pages of one walk", async () => {
    const seen: string[] = [];
    let cursor: string | undefined = "";
    for (let page = 0; cursor !== undefined; page += 1) {
      const where: string = `/v0.1/servers?limit=1&search=edge.&cursor=${encodeURIComponent(cursor)}`;
      const answer: Answer = page % 2 === 0 ? await fromObject(where) : await get(where);
      seen.push(...named(answer));
      cursor = answer.body.metadata.nextCursor;
    }
    expect(seen).toEqual(named(await list("search=edge.&limit=100")));
    expect(seen.slice(0, 4).map((text) => text.split(" ")[0])).toEqual([
      ...["edge.a-b/one", "edge.a.b/one", "edge.A/Two", "edge.a/one"],
    ]);
  });

  it("keeps an answer for everyone, and shows no private server in it", async () => {
    const where = "/v0.1/servers?search=edge.own&limit=100";
    for (const _ of [1, 2]) await get(where);
    const { objectCalls } = registry.services.usage;
    for (const token of [undefined, admin]) {
      const again = await registry.send("GET", where, { token });
      expect([again.status, sourceOf(again), named(again)]).toEqual([200, "memory", ["edge.own/open 3.0.0"]]);
    }
    expect(registry.services.usage.objectCalls).toBe(objectCalls);
    const etag = (await get(where)).headers.get("ETag") ?? "";
    expect((await registry.send("GET", where, { headers: { "If-None-Match": etag } })).status).toBe(304);
  });

  it("shows a write through this isolate at once, and what was made private no more", async () => {
    const where = "/v0.1/servers?search=edge.moving&limit=100";
    for (const _ of [1, 2]) expect(named(await get(where))).toEqual([]);
    await published("edge.moving/srv");
    expect(named(await get(where))).toEqual(["edge.moving/srv 1.0.0"]);
    expect((await get(path("edge.moving/srv", "latest"))).body._meta[official].isLatest).toBe(true);
    await status("edge.moving/srv", "1.0.0", { status: "deprecated", statusMessage: "Old." });
    expect((await get(path("edge.moving/srv", "latest"))).body._meta[official].status).toBe("deprecated");
    expect((await publish(json("edge.moving/srv"))).status).toBe(400);
    await registry.send("PATCH", config("edge.moving", "srv"), { token: admin, body: { visibility: "tenant" } });
    await drained("edge.moving");
    for (const _ of [1, 2]) {
      expect([named(await get(where)), (await get(path("edge.moving/srv"))).status]).toEqual([[], 404]);
    }
  });

  it("shows no deleted server any more once its name was taken by one that is not public", async () => {
    const where = "/v0.1/servers?search=edge.again&include_deleted=true";
    await published("edge.again/srv");
    await registry.send("DELETE", config("edge.again", "srv"), { token: admin });
    expect((await get(where)).body.servers[0]._meta[official].status).toBe("deleted");
    await registry.send("POST", configs, { token: admin, body: { tenant: "edge.again", name: "srv" } });
    await drained("edge.again");
    const [there, here] = [await fromObject(where), await get(where)];
    expect([named(there), named(here)]).toEqual([[], []]);
    expect(sourceOf(here)).not.toBe("object");
  });

  it("is as new as a reader requires, or the answer is 412", async () => {
    for (const where of ["/v0.1/servers?search=edge.many", path("edge.many/srv"), path("edge.many/srv", "latest")]) {
      const state = (await get(where)).headers.get("Rollcall-Directory") ?? "";
      const [epoch, generation] = state.split(".");
      const read = (at: string) =>
        registry.send("GET", where, { headers: { "Rollcall-Min-Directory-Generation": at } });
      expect((await read(state)).status).toBe(200);
      expect((await read(`${epoch}.${Number(generation) - 1}`)).status).toBe(200);
      for (const at of [`${epoch}.${Number(generation) + 1}`, `1.${generation}`]) {
        expectProblem(await read(at), 412, "ErrorDirectoryAhead", /the directory is at/);
      }
    }
  });

  it("finds the server of a public capability without its object", async () => {
    const fresh = new Registry({ vars: { READ_LIMIT: "100000/100000" } });
    await loaded(fresh);
    const found = await fresh.send("GET", "/api/capabilities/edge.own/mcp.open.t");
    expect([found.status, sourceOf(found) === "object"]).toEqual([200, false]);
    expect((await fresh.send("GET", "/api/capabilities/edge.own/mcp.closed.hidden")).status).toBe(401);
  });
});
