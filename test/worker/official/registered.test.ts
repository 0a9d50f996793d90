import { describe, expect, it } from "vitest";
import { ServerJson } from "../../../src/official/schema.ts";
import { capabilities, config, configs, drained, tools } from "../support/registry.ts";
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

describe("a server that was registered here", () => {
  const register = (name: string, change: object = {}) =>
    registry.send("POST", configs, { token: admin, body: { tenant: "reg", name, visibility: "public", ...change } });
  const read = (name: string, query = "") => get(`${path(`reg/${name}`, "latest")}${query}`);

  it("shows there, valid, with our data in its own key", async () => {
    const sources = [{ type: "stdio" }, { type: "sse", url: "https://reg.test/sse", credential: { secret: "k" } }];
    await register("full", { description: "D".repeat(300), sources });
    const manifest = { ...tools("reg_t"), version: "4.5.6", websiteUrl: "https://reg.test/", title: "Full" };
    await registry.send("PUT", capabilities("reg", "full"), { token: admin, body: manifest });
    const { status: found, body } = await read("full");
    expect(found).toBe(200);
    expect(ServerJson.safeParse(body.server).success).toBe(true);
    expect(body.server).toMatchObject({
      name: "reg/full",
      version: "4.5.6",
      title: "Full",
      websiteUrl: "https://reg.test/",
    });
    expect(body.server).not.toHaveProperty("remotes");
    expect(Array.from(body.server.description)).toHaveLength(100);
    expect(Object.keys(body._meta[official]).sort()).toEqual([
      "isLatest",
      "publishedAt",
      "status",
      "statusChangedAt",
      "updatedAt",
    ]);
    expect(body._meta[ours]).toMatchObject({ counts: { tool: 1 }, digest: expect.stringMatching(/^sha256-/) });
  });

  it("follows what is published, and has one version", async () => {
    await register("moves");
    expect((await read("moves")).body.server.version).toBe("0.0.0");
    for (const version of ["1.0.0", "0.5.0"]) {
      await registry.send("PUT", capabilities("reg", "moves"), {
        token: admin,
        body: { ...tools("moves_t"), version },
      });
      expect(named(await get(path("reg/moves")))).toEqual([`reg/moves ${version}`]);
    }
    expectProblem(await status("reg/moves", "0.5.0", { status: "deleted" }), 409, "ErrorVersionDerived", /its config/);
  });

  it("gives way to what is published as server.json", async () => {
    await register("both");
    await registry.send("PUT", capabilities("reg", "both"), {
      token: admin,
      body: { ...tools("both_t"), version: "9.0.0" },
    });
    await published("reg/both", { version: "1.0.0" });
    expect(named(await get(path("reg/both")))).toEqual(["reg/both 1.0.0"]);
  });

  it("is there while it is public, and told of as deleted once it is", async () => {
    await register("leaves", { description: "Leaves." });
    const settings = { tenant: "reg", name: "leaves", description: "Leaves." };
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "tenant" } });
    for (const query of ["", "?include_deleted=true"]) expect((await read("leaves", query)).status).toBe(404);
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "public" } });
    expect((await read("leaves")).status).toBe(200);
    await registry.send("DELETE", config("reg", "leaves"), { token: admin });
    expect((await read("leaves")).status).toBe(404);
    const gone = await list("search=reg/leaves&updated_since=2020-01-01T00:00:00Z");
    expect(gone.body.servers[0]._meta).toEqual({
      [official]: expect.objectContaining({ status: "deleted" }),
      "dev.rollcall/registry": { flags: [], status: "withdrawn" },
    });
  });

  it("takes its published versions along when it is deleted, and their numbers stay taken", async () => {
    await published("reg/ended");
    await registry.send("DELETE", config("reg", "ended"), { token: admin });
    expect((await get(path("reg/ended"))).status).toBe(404);
    expect((await get(`${path("reg/ended")}?include_deleted=true`)).body.servers[0]._meta[official].status).toBe(
      "deleted",
    );
    expectProblem(await publish(json("reg/ended")), 400, "ErrorVersionExists");
    await published("reg/ended", { version: "1.0.1" });
    expect(named(await get(path("reg/ended")))).toEqual(["reg/ended 1.0.1"]);
  });

  it("hides its published versions with itself, and shows them with itself again", async () => {
    await published("reg/shy");
    const settings = (await registry.send("GET", config("reg", "shy"), { token: admin })).body.data;
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "tenant" } });
    expect((await get(`${path("reg/shy")}?include_deleted=true`)).status).toBe(404);
    // Nothing but its owner's word makes it public again.
    expectProblem(await status("reg/shy", "all", { status: "deprecated" }), 409, "ErrorServerPrivate");
    expectProblem(await publish(json("reg/shy", { version: "2.0.0" })), 409, "ErrorServerPrivate");
    expect((await get(`${path("reg/shy")}?include_deleted=true`)).status).toBe(404);
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "public" } });
    expect(named(await get(path("reg/shy")))).toEqual(["reg/shy 1.0.0"]);
  });
});

describe("what a stranger tried", () => {
  const latest = async (name: string): Promise<string[]> => {
    const { body } = await list(`search=${encodeURIComponent(name)}&include_deleted=true`);
    const rows: { server: { version: string }; _meta: Record<string, { isLatest: boolean }> }[] = body.servers;
    return rows.filter(({ _meta }) => _meta[official]?.isLatest).map(({ server }) => server.version);
  };

  it("a server that comes back through the other door has one latest version, under a number of its own", async () => {
    const name = "io.github.stranger/back";
    await published(name, { version: "0.0.0" });
    await registry.send("DELETE", config("io.github.stranger", "back"), { token: admin });
    const body = { tenant: "io.github.stranger", name: "back", visibility: "public" };
    expect((await registry.send("POST", configs, { token: admin, body })).status).toBe(201);
    await drained("io.github.stranger");
    const [number] = await latest(name);
    expect([await latest(name), number]).toEqual([[expect.stringMatching(/^0\.0\.0\+g\d+$/)], expect.anything()]);
    expect((await get(path(name, "latest"))).body.server.version).toBe(number);
    await published(name, { version: "1.0.0" });
    expect(await latest(name)).toEqual(["1.0.0"]);
  });
});
