import { beforeEach, describe, expect, it } from "vitest";
import { failure } from "../../../src/kernel/failure.ts";
import { namedTenant, tenantKey } from "../../../src/kernel/names.ts";
import { checkAddress } from "../../../src/outbound/address.ts";
import { addressPolicyFor } from "../../../src/subscriptions/subscriptions.ts";
import { token } from "../support/registry.ts";
import {
  failureOf,
  list,
  newTenant,
  one,
  publish,
  receiver,
  registry,
  send,
  show,
  subscribe,
  tenant,
  url,
} from "./subscriber.ts";

beforeEach(newTenant);

describe("permission", () => {
  const routes = (id: string) =>
    [
      ["POST", list, { tenant, url }],
      ["POST", list, { tenant, url: "http://10.0.0.1/", odd: true }],
      ["GET", `${list}?tenant=${tenant}`],
      ["GET", one(id)],
      ["PATCH", one(id), { enabled: false }],
      ["PATCH", one(id), { enabled: "?" }],
      ["POST", `${one(id)}/rotate`, {}],
      ["POST", `${one(id)}/test`],
      ["DELETE", one(id)],
    ] as const;

  it("is asked before existence, and for each route", async () => {
    const { id } = (await subscribe()).body.data;
    const before = await show(id);
    const stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
    const reader = await token({ sub: "reader", tenants: [tenant], scope: "registry:read" });
    for (const [method, path, body] of [...routes(id), ...routes("sub_none")]) {
      const ask = async (who?: string) => {
        const options = { ...(who === undefined ? {} : { token: who }), ...(body === undefined ? {} : { body }) };
        return failureOf(await registry.send(method, path, options));
      };
      expect([method, path, await ask()]).toEqual([method, path, [401, "ErrorUnauthorized"]]);
      expect([method, path, await ask(stranger)]).toEqual([method, path, [403, "ErrorTenantPermissionError"]]);
      expect([method, path, await ask(reader)]).toEqual([method, path, [403, "ErrorInsufficientScope"]]);
    }
    expect(await show(id)).toEqual(before);
    expect(receiver.received).toEqual([]);
  });

  it("to one tenant opens no subscription of another", async () => {
    const { id } = (await subscribe()).body.data;
    const both = await token({ tenants: [tenant, "elsewhere"] });
    for (const [method, , body] of routes(id).slice(3)) {
      const options = { token: both, ...(body === undefined ? {} : { body }) };
      const answer = await registry.send(method, `${list}/elsewhere/${id}`, options);
      expect([method, answer.status >= 400, JSON.stringify(answer.body).includes(url)]).toEqual([method, true, false]);
    }
    expect(await show(id)).toMatchObject({ state: "active" });
  });

  it.each(["GET", "DELETE", "PATCH", "rotate", "test"])("of a member finds no unknown id: %s", async (verb) => {
    const ask = async (id: string) => {
      if (verb === "rotate" || verb === "test") return failureOf(await send("POST", `${one(id)}/${verb}`));
      return failureOf(await send(verb, one(id), verb === "PATCH" ? { enabled: true } : undefined));
    };
    const unknown = ["x", "sub_", `sub_${"0".repeat(32)}`, "%00", "..%2f", "'%20OR%201=1", "x".repeat(1_000)];
    for (const id of unknown) expect([id, await ask(id)]).toEqual([id, [404, "ErrorSubscriptionNotFound"]]);
    // Nor any once there are tables to look in.
    await publish("add");
    for (const id of unknown) expect([id, await ask(id)]).toEqual([id, [404, "ErrorSubscriptionNotFound"]]);
  });
});

describe("what is wrong with a request is named", () => {
  const invalid = "ErrorSubscriptionInvalid";

  it.each<[string, Record<string, unknown>, string]>([
    ["no address", { url: undefined }, "/url"],
    ["an address that is no text", { url: 7 }, "/url"],
    ["an empty address", { url: "" }, "/url"],
    ["a long address", { url: `https://receiver.example/${"x".repeat(2_048)}` }, "/url"],
    ["an unknown key", { secret: "whsec_mine" }, ""],
    ["filters that are a list", { filters: [] }, "/filters"],
    ["an unknown filter", { filters: { server: ["s"] } }, "/filters"],
    ["a filter that is no list", { filters: { servers: "s" } }, "/filters/servers"],
    ["a filter without entries", { filters: { servers: [] } }, "/filters/servers"],
    ["too many servers", { filters: { servers: Array.from({ length: 101 }, () => "s") } }, "/filters/servers"],
    ["a bad server name", { filters: { servers: ["s", "a/b"] } }, "/filters/servers/1"],
    ["an unknown kind", { filters: { kinds: ["tools"] } }, "/filters/kinds/0"],
    ["an unknown classification", { filters: { classifications: ["major"] } }, "/filters/classifications/0"],
    ["a long description", { description: "x".repeat(1_025) }, "/description"],
    ["an invisible character", { description: "a\u200bb" }, "/description"],
    ["a null", { filters: null }, "/filters"],
  ])("%s", async (_, more, path) => {
    const answer = await subscribe(more);
    expect(failureOf(answer)).toEqual([422, invalid]);
    expect(answer.body.error.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect((await send("GET", `${list}?tenant=${tenant}`)).body.data.items).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{}, ""],
    [[], ""],
    [null, ""],
    [{ enabled: "yes" }, "/enabled"],
    [{ url: null }, "/url"],
    [{ tenant: "other" }, ""],
    [{ filters: { kinds: [] } }, "/filters/kinds"],
  ])("in a change: %j", async (change, path) => {
    const { id } = (await subscribe()).body.data;
    const before = await show(id);
    const answer = await send("PATCH", one(id), JSON.stringify(change));
    expect(failureOf(answer)).toEqual([422, invalid]);
    expect(answer.body.error.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect(await show(id)).toEqual(before);
  });

  it("in a body that says a thing twice", async () => {
    const body = `{"tenant": "${tenant}", "url": "https://receiver.example/a", "url": "https://receiver.example/b"}`;
    expect(failureOf(await send("POST", list, body))).toEqual([400, "ErrorInvalidBody"]);
  });

  it.each([-1, 604_801, 1.5, "60", null])("in a rotation: overlapSeconds %j", async (overlapSeconds) => {
    const { id } = (await subscribe()).body.data;
    expect(failureOf(await send("POST", `${one(id)}/rotate`, { overlapSeconds }))).toEqual([422, invalid]);
  });

  it.each<[string, string, unknown, unknown[]]>([
    ["POST", list, "{", [400, "ErrorInvalidBody"]],
    ["POST", list, "null", [400, "ErrorTenantRequired"]],
    ["POST", list, "[]", [400, "ErrorTenantRequired"]],
    ["POST", list, { url: "https://receiver.example/" }, [400, "ErrorTenantRequired"]],
    ["POST", list, { tenant: "NOT valid" }, [400, "ErrorTenantInvalid"]],
    ["POST", list, `"${"x".repeat(300_000)}"`, [413, "ErrorTooLarge"]],
    ["POST", `${list}?dry=1`, {}, [400, "ErrorBadRequest"]],
    ["GET", list, undefined, [400, "ErrorTenantRequired"]],
    ["GET", `${list}?tenant=a&tenant=b`, undefined, [403, "ErrorTenantPermissionError"]],
    ["GET", `${list}?owner=a`, undefined, [400, "ErrorTenantRequired"]],
    ["GET", `${list}/NOT%20valid/x`, undefined, [400, "ErrorTenantInvalid"]],
    ["PUT", list, {}, [405, "ErrorMethodNotAllowed"]],
    ["PUT", `${list}/a/b`, {}, [405, "ErrorMethodNotAllowed"]],
    ["GET", `${list}/a/b/rotate`, undefined, [405, "ErrorMethodNotAllowed"]],
    ["DELETE", `${list}/a/b/test`, undefined, [405, "ErrorMethodNotAllowed"]],
    ["GET", `${list}/a`, undefined, [404, "ErrorNotFound"]],
    ["GET", `${list}/a/b/c`, undefined, [404, "ErrorNotFound"]],
  ])("%s %s with %j", async (method, path, body, expected) => {
    expect(failureOf(await send(method, path, body))).toEqual(expected);
  });

  it("in a query of a member", async () => {
    const ask = async (more: string) => failureOf(await send("GET", `${list}?tenant=${tenant}&${more}`));
    expect(await ask(`tenant=${tenant}`)).toEqual([400, "ErrorBadRequest"]);
    expect(await ask("owner=a")).toEqual([400, "ErrorBadRequest"]);
  });
});

describe("an address", () => {
  const refusal = {
    success: false,
    error: failure("ErrorAddressRefused"),
  };

  it.each([
    "http://receiver.example/",
    "https://receiver.example:8443/",
    "https://user:pw@receiver.example/",
    "https://127.0.0.1/",
    "http://127.0.0.1:8787/",
    "https://localhost/",
    "https://[::1]/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://169.254.169.254/latest/meta-data/",
    "https://metadata.google.internal/",
    "https://10.0.0.1/",
    "https://intranet/",
    "https://printer.local/",
    "https://127.0.0.1.nip.io/",
    "https://ⓔxample.com/",
    "https://receiver.example\\@10.0.0.1/",
    "ftp://receiver.example/",
    "file:///etc/passwd",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "//receiver.example/",
    "receiver.example",
    "https://",
    " https://receiver.example/",
  ])("%j is refused with one message, and nothing is asked", async (address) => {
    const { status, body } = await subscribe({ url: address });
    expect([status, body]).toEqual([422, refusal]);
    const { id } = (await subscribe()).body.data;
    const changed = await send("PATCH", one(id), { url: address });
    expect([changed.status, changed.body]).toEqual([422, refusal]);
    expect(await show(id)).toMatchObject({ url });
    expect(receiver.received).toEqual([]);
  });

  it("of the registry itself is refused, by its public name and by the one it was reached under", async () => {
    const policyFor = addressPolicyFor({ publicUrl: "https://registry.example/base", allowLoopbackFetch: false });
    const verdict = (address: string) => checkAddress(address, policyFor("edge.registry.example")).ok;
    expect(verdict("https://receiver.example/")).toBe(true);
    expect(verdict("https://registry.example/hooks/a/b")).toBe(false);
    expect(verdict("https://edge.registry.example/hooks/a/b")).toBe(false);
    const stub = registry.services.tenant(tenantKey(tenant));
    const request = { url: "https://registry.example/", filters: {}, ownHost: "registry.example" };
    const refused = await stub.createSubscription({ ...namedTenant(tenant), subject: "tester" }, request);
    expect(refused).toMatchObject({ ok: false, error: { code: "ErrorAddressRefused" } });
  });
});
