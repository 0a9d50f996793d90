import { describe, expect, it } from "vitest";
import { capabilities, config, configs, tools } from "../support/registry.ts";
import {
  admin,
  expectProblem,
  get,
  json,
  named,
  official,
  ours,
  path,
  publish,
  published,
  registry,
  status,
} from "./official-client.ts";

describe("the status of a version", () => {
  it("moves, says why, and takes the latest and the server along", async () => {
    for (const version of ["1.0.0", "2.0.0"]) await published("life/s", { version, title: `V${version}` });
    const before = (await get(path("life/s", "2.0.0"))).body._meta[official];
    const deprecated = await status("life/s", "2.0.0", { status: "deprecated", statusMessage: "Use 3." });
    expect(deprecated.status).toBe(200);
    expect(deprecated.body._meta[official]).toMatchObject({
      status: "deprecated",
      statusMessage: "Use 3.",
      isLatest: true,
      publishedAt: before.publishedAt,
    });
    expect((await registry.send("GET", config("life", "s"), { token: admin })).body.data.status).toBe("deprecated");

    await status("life/s", "2.0.0", { status: "deleted" });
    expect((await get(path("life/s", "2.0.0"))).status).toBe(404);
    expect((await get(`${path("life/s", "2.0.0")}?include_deleted=true`)).body._meta[official].status).toBe("deleted");
    expect((await get(path("life/s", "latest"))).body.server.version).toBe("1.0.0");
    expect(named(await get(path("life/s")))).toEqual(["life/s 1.0.0"]);
    const manifest = async () => (await registry.send("GET", capabilities("life", "s"), { token: admin })).body.data;
    expect(await manifest()).toMatchObject({ version: "1.0.0", title: "V1.0.0", status: "active" });

    const active = await status("life/s", "2.0.0", { status: "active" });
    expect(active.body._meta[official]).not.toHaveProperty("statusMessage");
    expect(await manifest()).toMatchObject({ version: "2.0.0", title: "V2.0.0" });
  });

  it("of all is set at once, and a server whose versions are gone is gone until one is back", async () => {
    await registry.send("POST", configs, { token: admin, body: { tenant: "bulk", name: "s", visibility: "public" } });
    await registry.send("PUT", capabilities("bulk", "s"), { token: admin, body: tools("bulk_t") });
    for (const version of ["1.0.0", "1.1.0", "1.2.0"]) await published("bulk/s", { version });
    await status("bulk/s", "1.1.0", { status: "deprecated" });
    const gone = await status("bulk/s", "all", { status: "deleted", statusMessage: "Moved." });
    expect([gone.status, gone.body.updatedCount, gone.body.servers.length]).toEqual([200, 3, 3]);
    for (const { _meta } of gone.body.servers)
      expect(_meta[official]).toMatchObject({ status: "deleted", statusMessage: "Moved." });
    expect((await get(path("bulk/s"))).status).toBe(404);
    expect(named(await get(`${path("bulk/s")}?include_deleted=true`))).toHaveLength(3);
    expect((await registry.send("GET", capabilities("bulk", "s"), { token: admin })).status).toBe(404);
    expectProblem(await publish(json("bulk/s", { version: "1.2.0" })), 400, "ErrorVersionExists");
    const back = await status("bulk/s", "all", { status: "active" });
    expect(back.body.updatedCount).toBe(3);
    const { body } = await registry.send("GET", capabilities("bulk", "s"), { token: admin });
    expect(body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["bulk_t"]);
    expect((await get(path("bulk/s", "latest"))).body._meta).toMatchObject({
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
  ])("is not changed by %s", async (_, body, words) => {
    if ((await get(path("still/s"))).status === 404) await published("still/s");
    for (const which of ["1.0.0", "all"]) {
      const answer = await status("still/s", which, body);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
    }
    expect((await get(path("still/s", "1.0.0"))).body._meta[official].status).toBe("active");
  });

  it("is that of something that is there", async () => {
    expectProblem(await status("life/none", "all", { status: "deleted" }), 404, "ErrorVersionNotFound");
    expectProblem(await status("life/s", "9.0.0", { status: "deleted" }), 404, "ErrorVersionNotFound");
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
