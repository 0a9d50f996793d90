import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, configs, Registry, token } from "../support/registry.ts";
import { formIn, mainOf, Visitor } from "./visitor.ts";

const registry = new Registry();
const member = new Visitor(registry);
const base = "/servers/reviewed/s";
let bearer = "";
const digests: string[] = [];

const tool = (name: string, description: string) => ({ name, description });
const manifests = [
  { version: "1.0.0", tools: [tool("forecast", "The weather of tomorrow in a place."), tool("alerts", "Storms.")] },
  { version: "1.1.0", tools: [tool("forecast", "The weather of today in a town."), tool("alerts", "Storms.")] },
  {
    version: "2.0.0",
    tools: [tool("forecast", "The weather of today in a town. And <b>more</b>."), tool("tides", "Tides.")],
  },
];

const publish = async (body: unknown) => {
  const { body: answer } = await registry.send("PUT", capabilities("reviewed", "s"), { token: bearer, body });
  return answer.data.digest as string;
};
const names = async () => {
  const { body } = await registry.send("GET", capabilities("reviewed", "s"), {
    token: bearer,
    headers: { "Cache-Control": "no-cache" },
  });
  return body.data.tools.map(({ name }: { name: string }) => name);
};
const revisions = async () =>
  (await registry.send("GET", `${capabilities("reviewed", "s")}/revisions`, { token: bearer })).body.data.items.length;

beforeAll(async () => {
  bearer = await token({ sub: "reviewer", tenants: ["reviewed"] });
  await registry.send("POST", configs, {
    token: bearer,
    body: { tenant: "reviewed", name: "s", visibility: "public" },
  });
  for (const manifest of manifests) digests.push(await publish(manifest));
  await member.signIn({ sub: "reviewer", tenants: ["reviewed"] });
});

describe("the history of a server", () => {
  it("lists revisions with who, when, version, changes and cost, drawn over time", async () => {
    const { status, text } = await member.get(`${base}/history`);
    const main = mainOf(text);
    expect(status).toBe(200);
    for (const shown of [
      "1.0.0",
      "1.1.0",
      "2.0.0",
      "by reviewer",
      "● current",
      "– 1 removed",
      "~ 1 cosmetic",
      "+ 1 additive",
    ])
      expect(main).toContain(shown);
    expect(main).toMatch(/<polyline points="0.0,\d+ 200.0,\d+ 200.0,\d+ 400.0,\d+/);
    for (const digest of digests) expect(text).toContain(`name="from" value="${digest}"`);
    // The two newest are picked.
    expect(text).toContain(`name="to" value="${digests[2]}" checked`);
    expect(text).toContain(`name="from" value="${digests[1]}" checked`);
  });

  it("belongs to the members: others are asked to sign in, or told so", async () => {
    const visitor = new Visitor(registry);
    const asked = await visitor.get(`${base}/history`);
    expect(asked.headers.get("Location")).toBe("/sign-in?next=%2Fservers%2Freviewed%2Fs%2Fhistory");
    expect((await visitor.get(base)).text).not.toContain("/history");
    await visitor.signIn({ sub: "other", tenants: ["elsewhere"] });
    const told = await visitor.get(`${base}/history`);
    expect([told.status, mainOf(told.text).includes("visible to members of")]).toEqual([403, true]);
    for (const page of [`diff?from=${digests[0]}`, `restore?digest=${digests[0]}`])
      expect((await visitor.get(`${base}/${page}`)).status).toBe(403);
  });
});

describe("a difference", () => {
  it("shows both texts side by side with the changed words marked, and why it is classified so", async () => {
    const { text } = await member.get(`${base}/diff?from=${digests[0]}&to=${digests[1]}`);
    const main = mainOf(text);
    expect(main).toContain("<code>/description</code>");
    expect(main).toMatch(/The weather of <del>tomorrow<\/del> in a <del>place<\/del>\./);
    expect(main).toMatch(/The weather of <ins>today<\/ins> in a <ins>town<\/ins>\./);
    expect(main).toContain("~ cosmetic");
  });

  it("shows what came and went, and publisher text as text", async () => {
    const main = mainOf((await member.get(`${base}/diff?from=${digests[1]}&to=${digests[2]}`)).text);
    expect(main).toContain("1 removed, 1 additive, 2 cosmetic");
    expect(main).toMatch(/– removed.*alerts/s);
    expect(main).not.toContain("<b>more");
    expect(main).toContain("&lt;");
  });

  it("of a revision with itself says so", async () => {
    const main = mainOf((await member.get(`${base}/diff?from=${digests[1]}&to=${digests[1]}`)).text);
    expect(main).toContain("The same revision");
  });

  it("with a revision that is not kept names it and the oldest that is", async () => {
    const gone = `sha256-${"0".repeat(64)}`;
    for (const path of [`diff?from=${gone}`, `restore?digest=${gone}`]) {
      const { status, text } = await member.get(`${base}/${path}`);
      expect([path, status, text.includes(gone)]).toEqual([path, 404, true]);
      expect(mainOf(text)).toContain("The oldest that is kept is revision 1");
      expect(mainOf(text)).not.toContain(`<code class="wrap">${digests[2]}`);
    }
    expect((await member.get(`${base}/diff?from=nonsense`)).status).toBe(400);
    expect((await member.get(`${base}/diff`)).status).toBe(400);
  });
});

describe("restoring", () => {
  const path = () => `${base}/restore?digest=${digests[0]}`;

  it("shows a dry run first, and changes nothing by it", async () => {
    const main = mainOf((await member.get(path())).text);
    expect(main).toContain("A dry run of it");
    expect(main).toContain("tokens");
    expect(await names()).toEqual(["forecast", "tides"]);
  });

  it("is refused with what is newer where somebody published meanwhile", async () => {
    const form = formIn((await member.get(path())).text);
    await publish({ version: "3.0.0", tools: [tool("only", "One.")] });
    const stale = await member.post(path(), form);
    expect([stale.status, mainOf(stale.text).includes("has changed since you looked")]).toEqual([409, true]);
    expect(await names()).toEqual(["only"]);
  });

  it("has one effect when its form is sent twice, and says so on the history", async () => {
    const form = formIn((await member.get(path())).text);
    const before = await revisions();
    const [first, second] = [await member.post(path(), form), await member.post(path(), form)];
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(first.headers.get("Location")).toBe(`${base}/history`);
    expect(await names()).toEqual(["forecast", "alerts"]);
    expect(await revisions()).toBe(before + 1);
    expect(mainOf((await member.get(`${base}/history`)).text)).toContain("is current again");
    // Once.
    expect(mainOf((await member.get(`${base}/history`)).text)).not.toContain("is current again");
    expect(mainOf((await member.get(`${base}/tools`)).text)).toContain("alerts");
  });

  it("is kept for somebody whose sign-in lost the tenant or may only read", async () => {
    const lost = new Visitor(registry);
    await lost.signIn({ sub: "reviewer", tenants: ["reviewed"] });
    const form = formIn((await lost.get(`${base}/restore?digest=${digests[1]}`)).text);
    for (const claims of [
      { sub: "reviewer", tenants: ["elsewhere"] },
      { sub: "reviewer", tenants: ["reviewed"], scope: "registry:read" },
    ]) {
      await lost.signIn(claims);
      const { status, text } = await lost.post(`${base}/restore?digest=${digests[1]}`, form);
      expect([status, text.includes("what you typed is kept")]).toEqual([403, true]);
      expect(text).toContain(`name="kept" value="${base}/restore?digest=${digests[1]}"`);
    }
    expect(await names()).toEqual(["forecast", "alerts"]);
  });
});
