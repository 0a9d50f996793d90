import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { configs, Registry } from "../support/registry.ts";

const registry = new Registry();
const secret = new TextEncoder().encode("a-secret-for-tests-that-is-long-enough");
const signed = (claims: Record<string, unknown>, expires: string) =>
  new SignJWT({ tenants: ["acme"], scope: "registry:read", ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer("rollcall")
    .setAudience("rollcall")
    .setSubject("tester")
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(secret);

it.each([
  ["lifetime", () => signed({}, "48h")],
  ["expired", () => signed({}, "-10m")],
  ["claims", () => signed({ tenants: "acme" }, "1h")],
  ["malformed", async () => "not-a-token"],
])("a token that is refused for its %s says so in words, without a value of the token", async (reason, make) => {
  const { status, body } = await registry.send("GET", configs, { token: await make() });
  expect([status, body.error.code]).toEqual([401, "ErrorUnauthorized"]);
  expect(body.error.details).toEqual({
    reason,
    message: expect.stringMatching(/\w+ \w+/),
    hint: expect.stringMatching(/token/),
  });
  expect(body.error.details.message).not.toContain("acme");
});
