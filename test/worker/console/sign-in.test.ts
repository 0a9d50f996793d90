import { beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../../src/operations.ts";
import { loadDemo } from "../support/demo.ts";
import { requestOf } from "../support/example-requests.ts";
import { Registry, token } from "../support/registry.ts";
import { Visitor } from "./visitor.ts";

const registry = new Registry();
beforeAll(() => loadDemo(registry));

const developer = { sub: "developer", tenants: ["demo"] };

async function signedIn(): Promise<Visitor> {
  const visitor = new Visitor(registry);
  await visitor.signIn(developer);
  return visitor;
}

describe("signing in", () => {
  it("exchanges a token for a sealed cookie, and shows what the token allows", async () => {
    const visitor = new Visitor(registry);
    const answer = await visitor.post("/sign-in", { token: `Bearer ${await token(developer)}`, next: "/me" });
    expect([answer.status, answer.headers.get("Location")]).toEqual([303, "/me"]);
    const cookie = answer.headers.get("Set-Cookie") ?? "";
    expect(cookie).toMatch(
      /^__Host-rollcall=[\w-]+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=(?:3599|3600); Secure$/,
    );
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    const me = await visitor.get("/me");
    expect(me.text).toContain("developer");
    expect(me.headers.get("Cache-Control")).toBe("private, no-store");
    // Private servers are there now, and gone after signing out.
    expect((await visitor.get("/servers/demo/shop")).status).toBe(200);
    const out = await visitor.post("/sign-out", {});
    expect([out.status, out.headers.get("Clear-Site-Data")]).toEqual([303, '"cache"']);
    expect(out.headers.get("Set-Cookie")).toMatch(/Max-Age=0/);
    expect((await visitor.get("/servers/demo/shop")).status).toBe(401);
  });

  it("keeps the cookie of a port of this machine apart, and refuses plain http elsewhere", async () => {
    const local = new Visitor(new Registry({ vars: { PUBLIC_URL: "http://127.0.0.1:8787" } }));
    const { headers } = await local.signIn(developer);
    expect(headers.get("Set-Cookie")).toMatch(/^rollcall-8787=[^;]+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/);
  });

  it.each([
    ["nonsense", "three parts"],
    ["", "token"],
    [`eyJhbGciOiJub25lIn0.e30.`, "token"],
  ])("refuses the token %j with a reason under the field", async (sent, said) => {
    const visitor = new Visitor(registry);
    const answer = await visitor.post("/sign-in", { token: sent });
    expect([answer.status, visitor.cookie]).toEqual([401, undefined]);
    expect(answer.text).toContain('id="token-error"');
    expect(answer.text.toLowerCase()).toContain(said);
  });

  it("refuses a token that has expired, one without the scope, and one with too many tenants", async () => {
    const visitor = new Visitor(registry);
    const old = await visitor.signIn(developer, Date.now() - 7_200_000);
    expect([old.status, old.text.includes("expired")]).toEqual([401, true]);
    expect((await visitor.signIn({ ...developer, scope: "other" })).status).toBe(403);
    const tenants = Array.from({ length: 200 }, (_, at) => `tenant-number-${at}`);
    expect((await visitor.signIn({ ...developer, tenants })).status).toBe(400);
    expect(visitor.cookie).toBeUndefined();
  });

  it("ends with the token, and says so", async () => {
    let now = Date.now();
    const visitor = new Visitor(new Registry({ now: () => now }));
    await visitor.signIn(developer, now);
    expect((await visitor.get("/me")).status).toBe(200);
    now += 3_601_000;
    const { text, headers } = await visitor.get("/servers");
    expect(text).toContain("Your sign-in has ended");
    expect(headers.get("Set-Cookie")).toMatch(/Max-Age=0/);
    expect((await visitor.get("/me")).headers.get("Location")).toBe("/sign-in?next=%2Fme");
  });

  it("takes no cookie that this deployment did not seal", async () => {
    const elsewhere = new Visitor(new Registry({ vars: { JWT_SECRET: "another-secret-that-is-long-enough-too" } }));
    elsewhere.cookie = (await signedIn()).cookie;
    expect((await elsewhere.get("/me")).status).toBe(303);
    const forged = await signedIn();
    forged.cookie = `${forged.cookie?.slice(0, -4)}AAAA`;
    expect((await forged.get("/servers")).text).toContain("Your sign-in has ended");
  });

  it.each([
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "/%09/evil.example",
    "javascript:alert(1)",
    "/sign-out",
  ])("does not lead to %s", async (next) => {
    const visitor = new Visitor(registry);
    const { headers } = await visitor.post("/sign-in", { token: await token(developer), next });
    const place = new URL(headers.get("Location") ?? "", "https://registry.test");
    expect(place.origin).toBe("https://registry.test");
    expect(headers.get("Location")).not.toMatch(/^\/[/\\]|sign-out/);
    const form = await visitor.get(`/sign-in?next=${encodeURIComponent(next)}`);
    const field = /name="next" value="([^"]*)"/.exec(form.text)?.[1] ?? "";
    expect(new URL(field, "https://registry.test").origin).toBe("https://registry.test");
  });
});

describe("the cookie", () => {
  it("is nobody to the API", async () => {
    const { cookie = "" } = await signedIn();
    const sealed = cookie.split("=")[1] ?? "";
    for (const operation of operations) {
      if (operation.access.token === "none" || operation.head === false) continue;
      const { method, path, headers, body } = requestOf(operation);
      const send = (extra: Record<string, string>) =>
        registry.send(method, path, { headers: { ...headers, ...extra }, ...(body === undefined ? {} : { body }) });
      const plain = await send({});
      const withCookie = await send({ Cookie: cookie, "Sec-Fetch-Site": "same-origin" });
      expect([operation.id, withCookie.status]).toEqual([operation.id, plain.status]);
      if (operation.access.token === "required") expect([operation.id, withCookie.status]).toEqual([operation.id, 401]);
    }
    const bearer = await registry.send("GET", "/api/whoami", { token: sealed });
    expect(bearer.status).toBe(401);
    const whoami = await registry.send("GET", "/api/whoami", { headers: { Cookie: cookie } });
    expect(whoami.body.data.subject).toBeNull();
  });

  it("does nothing for a page of another site", async () => {
    const visitor = await signedIn();
    const others: Record<string, string>[] = [
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "none" },
      { "Sec-Fetch-Site": "cross-site", Origin: "https://registry.test" },
    ];
    for (const headers of others)
      for (const path of ["/sign-in", "/sign-out", "/negotiate"])
        expect([path, (await visitor.post(path, {}, headers)).status]).toEqual([path, 403]);
    const without = await registry.send("POST", "/sign-out", {
      headers: {
        ...visitor.headers,
        Origin: "https://evil.example",
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: "",
    });
    expect(without.status).toBe(403);
    const stream = await visitor.get("/console/api/session/changes", { "Sec-Fetch-Site": "cross-site" });
    expect(stream.status).toBe(403);
  });
});

const firstForm = (html: string) => html.slice(html.indexOf("<main")).split("</form>")[0] ?? "";

describe("a form whose sign-in has ended", () => {
  it("is not offered to somebody else who is signed in, as if they were nobody", async () => {
    const visitor = await signedIn();
    const asked = await visitor.post("/negotiate", { as: "alice", task: "a task" });
    expect(asked.status).toBe(401);
    expect(asked.text).toContain("made for alice");
    expect(asked.text).not.toContain("without signing in");
  });

  it("is kept through the sign-in, and sent once", async () => {
    const visitor = await signedIn();
    const form = { as: "developer", task: 'a task with "quotes" & <tags>', budget: "300", capability: "sampling" };
    visitor.cookie = undefined;
    const asked = await visitor.post("/negotiate", form);
    expect(asked.status).toBe(401);
    expect(asked.text).toContain("what you typed is kept");
    const hidden = (html: string) =>
      Object.fromEntries(
        Array.from(
          html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g),
          ([, name = "", value = ""]) => [
            name,
            value.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
          ],
        ),
      );
    // A token that is refused does not lose the form.
    const refused = await visitor.post("/sign-in", { ...hidden(firstForm(asked.text)), token: "nonsense" });
    expect([refused.status, visitor.cookie]).toEqual([401, undefined]);
    const again = await visitor.post("/sign-in", {
      ...hidden(firstForm(refused.text)),
      token: await token(developer),
    });
    expect([again.status, visitor.cookie !== undefined]).toEqual([200, true]);
    expect(again.text.slice(0, again.text.indexOf("<main"))).toContain("Sign out");
    const kept = hidden(again.text.slice(again.text.indexOf("<main")));
    expect(kept).toEqual(form);
    const sent = await visitor.post("/negotiate", kept);
    expect(sent.status).toBe(200);
  });
});
