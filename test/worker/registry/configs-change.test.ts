import { beforeAll, describe, expect, it } from "vitest";
import { type Member, member, paths } from "../support/member.ts";
import { config, configs, token, tools } from "../support/registry.ts";

let mine: Member;
beforeAll(async () => {
  mine = await member("part");
});

const sources = [{ id: "a", type: "stdio", command: "npx", args: ["-y"] }];
const whole = {
  ...{ title: "T", visibility: "public", sources, policy: { sameVersion: "refuse", own: 1 } },
  advertise: { advertiseResources: true, variants: { summary: true } },
};

const patch = (name: string, body: unknown, headers: Record<string, string> = {}) =>
  mine.send("PATCH", config("part", name), body, headers);
/** Both ways to change a server's settings: what they name, and nothing else. */
const ways: [string, (name: string, body: Record<string, unknown>) => ReturnType<Member["send"]>][] = [
  ["PUT", (name, body) => mine.put({ name, ...body })],
  ["PATCH", (name, body) => patch(name, body)],
];

describe.each(ways)("%s of a config", (method, change) => {
  const name = (what: string) => `${method.toLowerCase()}-${what}`;

  it("keeps what it does not name, and lists what changed", async () => {
    await mine.post({ name: name("keep"), ...whole });
    const { status, body } = await change(name("keep"), { description: "D", title: "T" });
    expect([status, body.data.changed]).toEqual([200, ["description"]]);
    expect((await mine.get(name("keep"))).body.data).toMatchObject({ ...whole, description: "D" });
  });

  it("changes members of members, and replaces lists", async () => {
    await mine.post({ name: name("deep"), ...whole });
    const { body } = await change(name("deep"), { policy: { sameVersion: "flag" }, sources: [] });
    expect(body.data.changed.sort()).toEqual(["policy", "sources"]);
    const { data } = (await mine.get(name("deep"))).body;
    expect([data.policy, data.sources, data.advertise]).toEqual([{ sameVersion: "flag", own: 1 }, [], whole.advertise]);
  });

  it("removes with null, and says by when a narrower visibility holds", async () => {
    await mine.post({ name: name("null"), ...whole });
    const { body } = await change(name("null"), { visibility: null, title: null, policy: { own: null }, absent: null });
    expect(body.data.changed.sort()).toEqual(["policy", "title", "visibility"]);
    expect(body.data).toMatchObject({ visibility: "tenant", policy: { sameVersion: "refuse" } });
    expect(body.data).not.toHaveProperty("title");
    expect(body.data.effectiveBy).toBeDefined();
  });

  it("of what an answer shows changes nothing and warns of nothing", async () => {
    await mine.post({ name: name("back"), ...whole });
    await mine.publish(name("back"), tools(`${method}_back`));
    const { data } = (await mine.get(name("back"))).body;
    const { body } = await change(name("back"), data);
    expect([body.data.changed, body.data.warnings]).toEqual([[], undefined]);
    expect(body.data.generation).toBe(data.registry.generation);
  });

  it("names members that it does not know, and what they may mean", async () => {
    await mine.post({ name: name("odd") });
    const { body } = await change(name("odd"), {
      visibilty: "public",
      source: [],
      statuss: "x",
      verified: true,
      own: 1,
    });
    expect(body.data.warnings).toEqual([
      "/visibilty is not known and was kept; did you mean visibility?",
      "/source is not known and was kept; did you mean sources?",
      "/statuss is not known and was kept; did you mean status?",
      "/own is not known and was kept",
      "/verified is for the registry to say and was ignored",
    ]);
    const { data } = (await mine.get(name("odd"))).body;
    expect([data.visibility, data.own, data.verified]).toEqual(["tenant", 1, undefined]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a source without a url", { sources: [{ type: "sse" }] }, "/sources/0/url"],
    ["a wrong value", { visibility: "world" }, "/visibility"],
    ["a wrong value inside", { policy: { sameVersion: 7 } }, "/policy/sameVersion"],
  ])("refuses %s and changes nothing", async (what, body, path) => {
    await mine.post({ name: name("bad"), ...whole });
    const before = (await mine.get(name("bad"))).body;
    const answer = await change(name("bad"), { title: what, ...body });
    expect([answer.status, paths(answer)]).toEqual([422, [path]]);
    expect((await mine.get(name("bad"))).body).toEqual(before);
  });

  it("may not make a config larger than one may be", async () => {
    const half = "x".repeat(140 * 1024);
    await mine.post({ name: name("large"), "x-a": half });
    const { status, body } = await change(name("large"), { "x-b": half });
    expect([status, body.error.code]).toEqual([413, "ErrorTooLarge"]);
  });
});

describe("a new config", () => {
  it("names members that it does not know", async () => {
    const { status, body } = await mine.post({ name: "new-odd", visiblity: "public", sources });
    expect([status, body.data.warnings]).toEqual([
      201,
      ["/visiblity is not known and was kept; did you mean visibility?"],
    ]);
  });
});

describe("PATCH of a config", () => {
  it("answers as any other write: permission, existence, tags, method", async () => {
    await mine.post({ name: "guard" });
    const tag = (await mine.get("guard")).headers.get("ETag") ?? "";
    expect((await patch("guard", { title: "1" }, { "If-Match": tag })).status).toBe(200);
    expect((await patch("guard", { title: "2" }, { "If-Match": tag })).status).toBe(412);
    expect((await patch("absent", { title: "1" })).status).toBe(404);
    expect((await patch("guard", [])).status).toBe(422);
    expect((await patch("guard", "{")).status).toBe(400);
    expect((await mine.send("PATCH", `${config("part", "guard")}?x=1`, {})).status).toBe(400);
    expect((await mine.send("PATCH", config("other", "guard"), { title: "1" })).status).toBe(403);
    const reader = await token({ tenants: ["part"], scope: "registry:read" });
    const { registry } = await import("../support/member.ts");
    expect((await registry.send("PATCH", config("part", "guard"), { token: reader, body: {} })).status).toBe(403);
  });

  it("cannot rename a server", async () => {
    await mine.post({ name: "named" });
    expect((await patch("named", { tenant: "part", name: "named", title: "T" })).status).toBe(200);
    const { status, body } = await patch("named", { name: "other" });
    expect([status, body.error.details.issues[0].path]).toEqual([422, "/name"]);
  });

  it("takes YAML", async () => {
    await mine.post({ name: "yaml" });
    const { body } = await patch("yaml", "title: Yes\n", { "Content-Type": "application/yaml" });
    expect(body.data.title).toBe("Yes");
    expect((await mine.send("GET", `${configs}?tenant=part&limit=1`)).status).toBe(200);
  });
});
