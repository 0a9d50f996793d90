import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { capabilities, config, configs, Registry, token } from "./support/registry.ts";

describe("without a key for tokens", () => {
  const registry = new Registry({ vars: { JWT_SECRET: "" } });

  it.each([
    ["GET", capabilities("any", "s")],
    ["PUT", capabilities("any", "s")],
    ["PATCH", capabilities("any", "s")],
    ["GET", configs],
    ["POST", configs],
    ["DELETE", config("any", "s")],
    ["GET", `${capabilities("any", "s")}/revisions`],
    ["GET", "/api/changes/any"],
    ["GET", "/api/metrics"],
  ])("%s %s answers 503 and names what to set", async (method, path) => {
    for (const who of [{}, { token: await token({ admin: true }) }]) {
      const { status, body } = await registry.send(method, path, who);
      expect([status, body.error.code]).toEqual([503, "ErrorNotConfigured"]);
      expect(body.error.message).toMatch(/JWT_SECRET.*32 bytes.*JWKS_URL/);
    }
  });

  it.each(["/healthz", "/", "/openapi.json", "/schemas/", "/.well-known/oauth-protected-resource"])(
    "%s still answers",
    async (path) => {
      expect((await registry.send("GET", path)).status).toBe(200);
    },
  );
});

describe("with keys of an identity provider and nothing to sign cursors with", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("reads work, and a list answers 503 naming SIGNING_SECRET", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256", use: "sig" }] };
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(jwks));
    const registry = new Registry({ vars: { JWT_SECRET: "", JWKS_URL: "https://issuer.example/jwks" } });
    const now = Math.floor(Date.now() / 1_000);
    const who = await new SignJWT({
      tenants: ["idp"],
      scope: "registry:read",
      sub: "s",
      iss: "rollcall",
      aud: "rollcall",
      iat: now,
      exp: now + 60,
    })
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .sign(privateKey);
    expect((await registry.send("GET", capabilities("idp", "none"), { token: who })).status).toBe(404);
    const { status, body } = await registry.send("GET", configs, { token: who });
    expect([status, body.error.message]).toEqual([503, expect.stringContaining("SIGNING_SECRET")]);
  });
});

describe("a setting that cannot be read", () => {
  it.each([
    ["JWT_SECRET", "too short"],
    ["SIGNING_SECRET", "too short"],
    ["READ_LIMIT", "many"],
    ["READ_LIMIT", "0/7"],
    ["WRITE_LIMIT", "77"],
    ["SLOW_MS", "soon"],
    ["ADVERTISE_INDEX", "everything"],
    ["JWKS_URL", "http://issuer.test/jwks"],
    ["PUBLIC_URL", "registry.test"],
  ])("%s=%s is named in a 503, and not repeated", async (name, value) => {
    const request = new Request("https://registry.test/healthz") as Parameters<typeof worker.fetch>[0];
    const response = await worker.fetch(request, { ...env, [name]: value } as Env, createExecutionContext());
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([503, "ErrorNotConfigured"]);
    expect(error.message).toContain(name);
    expect(error.message).not.toContain(value);
  });
});
