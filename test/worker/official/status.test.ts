import { describe, expect, it } from "vitest";
import { capabilities, config, configs, tools } from "../support/registry.ts";
import {
  admin,
  expectProblem,
  get,
  json,
  list,
  named,
  official,
  ours,
  path,
  publish,
  published,
  registry,
  status,
} from "./official-client.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
const settings = async (tenant: string, name: string): Promise<any> =>
  (await registry.send("GET", config(tenant, name), { token: admin })).body.data;
const change = (tenant: string, name: string, body: object) =>
  registry.send("PATCH", config(tenant, name), { token: admin, body });
const digest = async (tenant: string, name: string) => (await settings(tenant, name)).registry.digest;

/** Status and message of each version, the newest first, deleted ones included. */
const states = async (name: string): Promise<[string, string, string?][]> => {
  const { body } = await get(`${path(name)}?include_deleted=true`);
  // biome-ignore lint/suspicious/noExplicitAny: rows of an answer
  return body.servers.map(({ server, _meta }: any) => {
    const { status: value, statusMessage } = _meta[official];
    return [server.version, value, ...(statusMessage === undefined ? [] : [statusMessage])];
  });
};

describe("the status of a version", () => {
  it("moves, says why, and takes the latest and the server along", async () => {
    for (const version of ["1.0.0", "2.0.0"]) await published("life/srv", { version, title: `V${version}` });
    const before = (await get(path("life/srv", "2.0.0"))).body._meta[official];
    const deprecated = await status("life/srv", "2.0.0", { status: "deprecated", statusMessage: "Use 3." });
    expect(deprecated.status).toBe(200);
    expect(deprecated.body._meta[official]).toMatchObject({
      status: "deprecated",
      statusMessage: "Use 3.",
      isLatest: true,
      publishedAt: before.publishedAt,
    });
    expect((await registry.send("GET", config("life", "srv"), { token: admin })).body.data.status).toBe("deprecated");

    await status("life/srv", "2.0.0", { status: "deleted" });
    expect((await get(path("life/srv", "2.0.0"))).status).toBe(404);
    expect((await get(`${path("life/srv", "2.0.0")}?include_deleted=true`)).body._meta[official].status).toBe(
      "deleted",
    );
    expect((await get(path("life/srv", "latest"))).body.server.version).toBe("1.0.0");
    expect(named(await get(path("life/srv")))).toEqual(["life/srv 1.0.0"]);
    const manifest = async () => (await registry.send("GET", capabilities("life", "srv"), { token: admin })).body.data;
    // Only publishing changes content: the manifest stays that of 2.0.0.
    expect(await manifest()).toMatchObject({ version: "2.0.0", title: "V2.0.0", registry: { status: "active" } });

    const active = await status("life/srv", "2.0.0", { status: "active" });
    expect(active.body._meta[official]).not.toHaveProperty("statusMessage");
    expect(await manifest()).toMatchObject({ version: "2.0.0", title: "V2.0.0" });
  });

  it("of all is set at once, and a server whose versions are deleted is withdrawn until one is back", async () => {
    await registry.send("POST", configs, { token: admin, body: { tenant: "bulk", name: "srv", visibility: "public" } });
    await registry.send("PUT", capabilities("bulk", "srv"), { token: admin, body: tools("bulk_t") });
    for (const version of ["1.0.0", "1.1.0", "1.2.0"]) await published("bulk/srv", { version });
    await status("bulk/srv", "1.1.0", { status: "deprecated" });
    const gone = await status("bulk/srv", "all", { status: "deleted", statusMessage: "Moved." });
    expect([gone.status, gone.body.updatedCount, gone.body.servers.length]).toEqual([200, 3, 3]);
    for (const { _meta } of gone.body.servers)
      expect(_meta[official]).toMatchObject({ status: "deleted", statusMessage: "Moved." });
    expect((await get(path("bulk/srv"))).status).toBe(404);
    expect(named(await get(`${path("bulk/srv")}?include_deleted=true`))).toHaveLength(3);
    const shown = await registry.send("GET", capabilities("bulk", "srv"), { token: admin });
    expect([shown.status, shown.body.data.registry.status]).toEqual([200, "withdrawn"]);
    expect((await settings("bulk", "srv")).statusMessage).toBe("Moved.");
    expectProblem(await publish(json("bulk/srv", { version: "1.2.0" })), 400, "ErrorVersionExists");
    const back = await status("bulk/srv", "all", { status: "active" });
    expect(back.body.updatedCount).toBe(3);
    const { body } = await registry.send("GET", capabilities("bulk", "srv"), { token: admin });
    expect(body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["bulk_t"]);
    expect((await get(path("bulk/srv", "latest"))).body._meta).toMatchObject({
      [official]: { isLatest: true },
      [ours]: { counts: { tool: 1 } },
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["a message with active", { status: "active", statusMessage: "why" }, /statusMessage/],
    ["no change", { status: "active" }, /No changes/],
    ["a status that there is not", { status: "gone" }, /status/],
    ["no status", {}, /status/],
    ["too long a message", { status: "deprecated", statusMessage: "x".repeat(501) }, /statusMessage/],
    ["a key that there is not", { status: "deprecated", reason: "x" }, /reason/],
    ["no object", [], /./],
    ["an invisible message", { status: "deprecated", statusMessage: "a\u200bb" }, /statusMessage U\+200B/],
  ])("is not changed by %s", async (_, body, words) => {
    if ((await get(path("still/srv"))).status === 404) await published("still/srv");
    for (const which of ["1.0.0", "all"]) {
      const answer = await status("still/srv", which, body);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
    }
    expect((await get(path("still/srv", "1.0.0"))).body._meta[official].status).toBe("active");
  });

  it("is that of something that is there", async () => {
    expectProblem(await status("life/none", "all", { status: "deleted" }), 404, "ErrorVersionNotFound");
    expectProblem(await status("life/srv", "9.0.0", { status: "deleted" }), 404, "ErrorVersionNotFound");
  });
});

describe("the status of a server and of its versions", () => {
  it("is one: what the settings say is said of the versions, and taken back", async () => {
    for (const version of ["1.0.0", "2.0.0", "3.0.0"]) await published("one/srv", { version });
    await status("one/srv", "1.0.0", { status: "deprecated", statusMessage: "Too old." });
    await status("one/srv", "2.0.0", { status: "deleted", statusMessage: "Broken." });
    const was = await states("one/srv");
    const before = (await get(path("one/srv", "latest"))).body._meta[official];

    await change("one", "srv", { status: "withdrawn", statusMessage: "Use two/s." });
    expect(await states("one/srv")).toEqual([
      ["3.0.0", "deleted", "Use two/s."],
      ["2.0.0", "deleted", "Broken."],
      ["1.0.0", "deleted", "Use two/s."],
    ]);
    expect((await get(path("one/srv"))).status).toBe(404);
    const gone = (await get(`${path("one/srv", "latest")}?include_deleted=true`)).body;
    expect(gone._meta).toMatchObject({
      [official]: { isLatest: true },
      [ours]: { digest: await digest("one", "srv") },
    });
    expect(gone._meta[official].updatedAt > before.updatedAt).toBe(true);
    const mirrored = await list(`search=one/s&updated_since=${encodeURIComponent(before.updatedAt)}`);
    expect(named(mirrored)).toEqual(expect.arrayContaining(["one/srv 1.0.0", "one/srv 3.0.0"]));

    await change("one", "srv", { statusMessage: "Use three/s." });
    expect((await states("one/srv"))[0]).toEqual(["3.0.0", "deleted", "Use three/s."]);
    await change("one", "srv", { status: "deprecated" });
    expect(await states("one/srv")).toEqual([["3.0.0", "deprecated", "Use three/s."], ...was.slice(1)]);
    await change("one", "srv", { status: "active" });
    expect(await states("one/srv")).toEqual(was);
  });

  it("is one: what is said of all or of the latest version is said of the server", async () => {
    for (const version of ["1.0.0", "2.0.0"]) await published("two/srv", { version });
    const server = async () => {
      const { status: value, statusMessage } = await settings("two", "srv");
      return [value, statusMessage];
    };
    await status("two/srv", "1.0.0", { status: "deprecated", statusMessage: "Old." });
    expect(await server()).toEqual([undefined, undefined]);
    await status("two/srv", "2.0.0", { status: "deprecated", statusMessage: "Soon." });
    expect(await server()).toEqual(["deprecated", "Soon."]);
    await status("two/srv", "2.0.0", { status: "deleted", statusMessage: "Gone." });
    expect(await server()).toEqual(["deprecated", "Old."]);
    await status("two/srv", "1.0.0", { status: "deleted", statusMessage: "All gone." });
    expect(await server()).toEqual(["withdrawn", "All gone."]);
    await status("two/srv", "2.0.0", { status: "active" });
    expect([await server(), await states("two/srv")]).toEqual([
      [undefined, undefined],
      [
        ["2.0.0", "active"],
        ["1.0.0", "deleted", "All gone."],
      ],
    ]);
    await status("two/srv", "all", { status: "deleted", statusMessage: "End." });
    expect(await server()).toEqual(["withdrawn", "End."]);
    // Offered again, it has what that deleted; what was deleted before stays so.
    await change("two", "srv", { status: "active" });
    expect((await states("two/srv")).map(([version, value]) => [version, value])).toEqual([
      ["2.0.0", "active"],
      ["1.0.0", "deleted"],
    ]);
  });

  it("of a registered server is that of its one version", async () => {
    const body = { tenant: "three", name: "srv", visibility: "public" };
    await registry.send("POST", configs, { token: admin, body });
    await change("three", "srv", { status: "deprecated", statusMessage: "Old." });
    expect(await states("three/srv")).toEqual([["0.0.0", "deprecated", "Old."]]);
    await change("three", "srv", { status: "withdrawn", statusMessage: "Use one/s." });
    expect(await states("three/srv")).toEqual([["0.0.0", "deleted", "Use one/s."]]);
    expect((await get(path("three/srv", "latest"))).status).toBe(404);
    const gone = (await get(`${path("three/srv", "latest")}?include_deleted=true`)).body;
    expect(gone._meta[ours]).toMatchObject({ generation: expect.any(Number) });
    await change("three", "srv", { status: "active" });
    expect(await states("three/srv")).toEqual([["0.0.0", "active"]]);
  });

  it("never changes the content, in whichever way and whichever version is the latest", async () => {
    for (const version of ["1.0.0", "2.0.0"])
      await published("four/srv", { version, title: `V${version}`, description: "From server.json." });
    const manifest = { ...tools("four_t"), version: "2.0.0", description: "From a push." };
    await registry.send("PUT", capabilities("four", "srv"), { token: admin, body: manifest });
    const was = await digest("four", "srv");
    const ways = [
      () => status("four/srv", "2.0.0", { status: "deprecated", statusMessage: "x" }),
      () => status("four/srv", "2.0.0", { status: "deleted" }),
      () => status("four/srv", "all", { status: "deleted" }),
      () => status("four/srv", "1.0.0", { status: "active" }),
      () => status("four/srv", "all", { status: "active" }),
      () => change("four", "srv", { status: "withdrawn" }),
      () => change("four", "srv", { status: "active" }),
    ];
    for (const way of ways) {
      expect((await way()).status).toBe(200);
      expect(await digest("four", "srv")).toBe(was);
    }
    const log = (await registry.send("GET", "/api/changes/four?limit=1000", { token: admin })).body.data.items;
    const last = log.filter(
      ({ generation }: { generation: number }) => generation > log.at(-1).generation - ways.length,
    );
    expect(new Set(last.map((one: { classification: string }) => one.classification))).toEqual(new Set(["advisory"]));
  });

  it("is active again with a new version that is published, and only that version is", async () => {
    for (const version of ["1.0.0", "2.0.0"]) await published("five/srv", { version });
    await change("five", "srv", { status: "withdrawn", statusMessage: "Over." });
    await published("five/srv", { version: "1.5.0" });
    expect((await settings("five", "srv")).status).toBe(undefined);
    expect(await states("five/srv")).toEqual([
      ["1.5.0", "active"],
      ["2.0.0", "deleted", "Over."],
      ["1.0.0", "deleted", "Over."],
    ]);
    expect((await get(path("five/srv", "latest"))).body.server.version).toBe("1.5.0");
  });

  it("of versions of a deleted server stays: only publishing makes a server", async () => {
    await published("six/srv");
    await registry.send("DELETE", config("six", "srv"), { token: admin });
    expectProblem(await status("six/srv", "1.0.0", { status: "active" }), 404, "ErrorVersionNotFound");
    expect((await registry.send("GET", config("six", "srv"), { token: admin })).status).toBe(404);
  });
});

describe("what a stranger tried", () => {
  it("a version that is called all is one version", async () => {
    const name = "io.github.stranger/all";
    for (const version of ["1.0.0", "2.0.0"]) await published(name, { version });
    const change = (version: string) =>
      registry.send("PATCH", `${path(name, version)}/status`, { token: admin, body: { status: "deprecated" } });
    expectProblem(await change("all"), 404, "ErrorVersionNotFound");
    await published(name, { version: "all" });
    expect((await change("all")).status).toBe(200);
    expect((await get(path(name, "2.0.0"))).body._meta[official].status).toBe("active");
  });
});
