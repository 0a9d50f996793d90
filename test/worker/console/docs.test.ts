import { beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../../src/operations.ts";
import { loadDemo } from "../support/demo.ts";
import { Registry } from "../support/registry.ts";
import { mainOf, Visitor } from "./visitor.ts";

const registry = new Registry();
const visitor = new Visitor(registry);
const member = new Visitor(registry);

beforeAll(async () => {
  await loadDemo(registry);
  await member.signIn({ sub: "developer", tenants: ["demo"] });
});

/** Fields of the first form behind a place, as a browser would send them. */
function fieldsIn(html: string, from: string): Record<string, string> {
  const form = html.slice(html.indexOf(from)).split("</form>")[0] ?? "";
  const plain = (text: string) =>
    text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  const inputs = Array.from(form.matchAll(/<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g), ([, name, value]) => [
    name,
    plain(value ?? ""),
  ]);
  const areas = Array.from(form.matchAll(/<textarea[^>]* name="([^"]+)"[^>]*>([^<]*)</g), ([, name, value]) => [
    name,
    plain(value ?? ""),
  ]);
  return Object.fromEntries([...inputs, ...areas]);
}

describe("the reference", () => {
  it("lists every operation that is declared, and has a page for each", async () => {
    const { text } = await visitor.get("/docs");
    const linked = Array.from(text.matchAll(/href="\/docs\/(\w+)"/g), ([, id]) => id);
    expect(linked.sort()).toEqual(operations.map(({ id }) => id).sort());
    for (const { id, path } of operations) {
      const page = await visitor.get(`/docs/${id}`);
      expect([id, page.status, mainOf(page.text).includes(path)]).toEqual([id, 200, true]);
      expect(page.text).not.toMatch(/ style=|undefined|\[object|NaN/);
      for (const part of ["curl -sS", "rollcall/client", "rollcall api"])
        expect([id, page.text.includes(part)]).toEqual([id, true]);
    }
  });

  it("shows code in descriptions as code", async () => {
    const main = mainOf((await visitor.get("/docs/searchCapabilities")).text);
    const tables = main.slice(0, main.indexOf("The same call"));
    expect(tables).toContain("<code>openapi</code>");
    expect(tables).not.toContain("`");
  });

  it("closes a stream that it was asked to try, and says so, each time", async () => {
    const params = {
      notifications: { resourceSubscriptions: ["capabilities://demo/weather/tools"] },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    };
    const message = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
    const fields = {
      try: "yes",
      type: "application/json",
      body: JSON.stringify(message),
      "header.MCP-Protocol-Version": "2026-07-28",
      "header.Mcp-Method": "subscriptions/listen",
    };
    for (let count = 0; count < 6; count += 1) {
      const { status, text } = await visitor.post("/docs/mcp", fields);
      expect([status, text.includes("which this page does not follow")]).toEqual([200, true]);
    }
  });

  it("does not let dots lead a request elsewhere", async () => {
    const fields = { try: "ask", "path.tenant": "..", "path.id": ".." };
    const { text } = await member.post("/docs/deleteHook", { ...fields, as: "developer" });
    expect(text).toContain("DELETE /api/hooks/%252E%252E/%252E%252E");
  });

  it("is a page with a next step where there is no such operation", async () => {
    for (const id of ["nothing", "__proto__", "%3Cscript%3E"])
      expect([id, (await visitor.get(`/docs/${id}`)).status]).toEqual([id, 404]);
    expect((await member.post("/docs/whoami", {})).status).toBe(405);
    expect((await member.post("/docs/receiveEvent", {})).status).toBe(405);
  });
});

describe("trying an operation", () => {
  it("reads at once, for whoever looks", async () => {
    const path = "/docs/searchCapabilities?try=yes&query.task=will+it+rain+tomorrow&query.limit=1";
    const { status, headers, text } = await visitor.get(path);
    expect([status, headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
    expect(text).toContain("get_observation");
    expect(text).toContain("✓ 200");
    const mine = await member.get("/docs/getServer?try=yes&path.tenant=demo&path.name=shop");
    expect(mine.text).toContain("✓ 200");
    const whoami = (await member.get("/docs/whoami?try=yes")).text;
    expect(whoami).toContain("developer");
  });

  it("shows what the operation refuses, with its status, and sends no header that cannot be one", async () => {
    const refused = await visitor.get("/docs/getServer?try=yes&path.tenant=demo&path.name=shop");
    expect([refused.status, refused.text.includes("▲ 401")]).toEqual([200, true]);
    const wrong = await member.get("/docs/listChanges?try=yes&path.tenant=demo&query.limit=many");
    expect(wrong.text).toContain("▲ 400");
    const header = await member.get(
      `/docs/getServer?try=yes&path.tenant=demo&path.name=shop&header.If-None-Match=%0Ax`,
    );
    expect([header.status, header.text.includes("✓ 200")]).toEqual([200, true]);
    const odd = await member.get(
      `/docs/getServer?try=yes&path.tenant=demo&path.name=shop&header.If-None-Match=%E2%82%AC`,
    );
    expect(odd.status).toBe(400);
  });

  it("asks before it writes, and writes once", async () => {
    const page = await member.get("/docs/registerHook");
    const typed = { ...fieldsIn(page.text, 'id="try"'), try: "ask" };
    const asked = await member.post("/docs/registerHook", typed);
    expect(asked.text).toContain("Send it?");
    const hooks = async () =>
      (await member.get("/docs/listHooks?try=yes&query.tenant=demo")).text.match(/From CI/g)?.length ?? 0;
    expect(await hooks()).toBe(0);
    const confirmed = { ...fieldsIn(asked.text, 'role="alert"'), try: "yes" };
    const first = await member.post("/docs/registerHook", confirmed);
    expect([first.headers.get("Cache-Control"), first.text.includes("✓ 201")]).toEqual(["private, no-store", true]);
    const again = await member.post("/docs/registerHook", confirmed);
    expect(again.text).toContain("✓ 201");
    expect(await hooks()).toBe(1);
  });

  it("asks visitors to sign in first, and takes no form of another site", async () => {
    expect((await visitor.get("/docs/publishManifest")).text).toContain("to try it");
    const form = { "path.tenant": "demo", "path.name": "weather", body: "{}", try: "yes" };
    expect((await visitor.post("/docs/publishManifest", form)).text).toContain("▲ 401");
    expect((await member.post("/docs/deleteServer", form, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  });
});
