import { beforeAll, describe, expect, it } from "vitest";
import { EventReader } from "../support/event-reader.ts";
import { capabilities, Registry, token, tools } from "../support/registry.ts";
import { mainOf, Visitor } from "./visitor.ts";

const registry = new Registry();
const member = new Visitor(registry);
const own = { "Sec-Fetch-Site": "same-origin" };
const claims = { sub: "clerk", tenants: ["feed", "second"] };

async function publish(name: string, body: object): Promise<void> {
  const answer = await registry.send("PUT", capabilities("feed", name), { token: await token(claims), body });
  expect(answer.status).toBeLessThan(300);
}

beforeAll(async () => {
  await publish("alpha", tools("one", "two"));
  await publish("alpha", tools("one"));
  await publish("beta", tools("three"));
  await member.signIn(claims);
});

/** Sequence numbers of the rows, in order. */
const sequences = (html: string) => Array.from(html.matchAll(/data-sequence="(\d+)"/g), ([, number]) => Number(number));

describe("the page of changes", () => {
  it("shows the newest first, and the same as one element for the script", async () => {
    const { status, headers, text } = await member.get("/changes/feed");
    expect([status, headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
    const { body } = await registry.send("GET", "/api/changes/feed", { token: await token(claims) });
    const all = body.data.items.map(({ sequence }: { sequence: number }) => sequence);
    expect(sequences(text)).toEqual(all.reverse());
    const part = await member.get("/changes/feed", { "Rollcall-Fragment": "feed" });
    expect(part.text).not.toContain("<html");
    expect(sequences(part.text)).toEqual(all);
  });

  it.each([
    ["class=removed", ["two"]],
    ["class=removed&class=breaking&server=alpha", ["two"]],
    ["server=beta&kind=tool", ["three"]],
    ["kind=&server=", ["two", "three"]],
  ])("keeps the filter %s in the address, and finds what it names", async (query, names) => {
    const { status, text } = await member.get(`/changes/feed?${query}`);
    expect(status).toBe(200);
    for (const name of names) expect(mainOf(text)).toContain(name);
    if (query.includes("beta")) expect(mainOf(text)).not.toContain("two");
    if (query === "class=removed") expect(mainOf(text)).toContain("– removed");
  });

  it("says that nothing matches, that nothing is older, and that nothing was published yet", async () => {
    expect((await member.get("/changes/feed?server=nobody")).text).toContain("None of these entries");
    expect((await member.get("/changes/feed?before=1")).text).toContain("no older entries");
    expect((await member.get("/changes/second")).text).toContain("Nothing has changed yet");
  });

  it("goes back page by page", async () => {
    const { text } = await member.get("/changes/feed?before=3");
    expect(sequences(text)).toEqual([2, 1]);
    expect(text).toContain('href="/changes/feed"');
    expect(text).not.toContain("data-follow=");
  });

  it("is for members: others sign in, or learn which tenants they act for", async () => {
    const visitor = await new Visitor(registry).get("/changes/feed?class=removed");
    expect([visitor.status, visitor.headers.get("Location")]).toEqual([
      303,
      "/sign-in?next=%2Fchanges%2Ffeed%3Fclass%3Dremoved",
    ]);
    const outsider = new Visitor(registry);
    await outsider.signIn({ sub: "other", tenants: ["elsewhere"] });
    const there = await outsider.get("/changes/feed");
    const absent = await outsider.get("/changes/absent");
    expect([there.status, absent.status]).toEqual([403, 403]);
    expect(mainOf(there.text).replaceAll("feed", "absent")).toBe(mainOf(absent.text));
    for (const path of ["/changes/feed?class=nonsense", "/changes/feed?before=x", "/changes/fe%20ed"])
      expect([path, (await member.get(path)).status]).toEqual([path, 400]);
  });

  it("leads to the only tenant, or lets choose", async () => {
    expect((await member.get("/changes")).text).toContain('href="/changes/second"');
    const single = new Visitor(registry);
    await single.signIn({ sub: "other", tenants: ["elsewhere"] });
    expect((await single.get("/changes")).headers.get("Location")).toBe("/changes/elsewhere");
    const admin = new Visitor(registry);
    await admin.signIn({ sub: "root", tenants: [], admin: true });
    expect((await admin.get("/changes")).text).toContain('name="tenant"');
    expect((await admin.get("/changes?tenant=feed")).headers.get("Location")).toBe("/changes/feed");
  });
});

describe("the stream behind it", () => {
  const open = (who: Visitor, path: string, headers: Record<string, string> = own) =>
    registry.fetch("GET", path, { headers: { ...who.headers, ...headers } });

  it("tells of a publish as it happens, to the page of a member alone", async () => {
    const response = await open(member, "/console/api/changes/feed?since=2");
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const reader = new EventReader(response);
    expect((await reader.named("change")).id).toBe("3");
    await reader.leave();
  });

  it("is not opened by a question for its headers, however often", async () => {
    const ask = () => registry.fetch("HEAD", "/console/api/changes/feed", { headers: { ...member.headers, ...own } });
    for (let count = 0; count < 6; count += 1) expect((await ask()).status).toBe(200);
    const response = await open(member, "/console/api/changes/feed?since=2");
    expect(response.status).toBe(200);
    await new EventReader(response).leave();
  });

  it("refuses pages of elsewhere, outsiders, and a place that the log has not reached", async () => {
    const outsider = new Visitor(registry);
    await outsider.signIn({ sub: "other", tenants: ["elsewhere"] });
    const path = "/console/api/changes/feed";
    const statuses = [
      (await open(member, path, { "Sec-Fetch-Site": "cross-site" })).status,
      (await open(member, path, {})).status,
      (await open(outsider, path)).status,
      (await open(new Visitor(registry), path)).status,
      (await open(member, path, { ...own, "Last-Event-ID": "999999" })).status,
    ];
    expect(statuses).toEqual([403, 403, 403, 401, 400]);
  });
});
