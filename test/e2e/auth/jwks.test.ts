import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli, startCli, stopAll } from "../support/process.ts";

/** An identity provider with one key of each kind that is accepted, on a real socket. */
const algorithms = ["RS256", "ES256", "EdDSA"] as const;
const keys = new Map<string, CryptoKey>();
const published: JWK[] = [];
const data = mkdtempSync(join(tmpdir(), "rollcall-"));
let provider: Server;
let fetches = 0;
let base: string;

beforeAll(async () => {
  for (const alg of algorithms) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    keys.set(alg, privateKey);
    published.push({ ...(await exportJWK(publicKey)), kid: alg, alg, use: "sig" });
  }
  provider = createServer((_, response) => {
    fetches += 1;
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ keys: published }));
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`;
  const server = startCli("serve.ts", "--port", "0", "--data", data, "--no-demo", "--var", `JWKS_URL=${url}`);
  base = (await server.line(/ready (http:\S+)/))[1] ?? "";
});

afterAll(async () => {
  await stopAll();
  provider.close();
  rmSync(data, { recursive: true, force: true });
});

const status = async (token: string) =>
  (await fetch(`${base}/api/mcp/configs`, { headers: { Authorization: `Bearer ${token}` } })).status;

function token(alg: string, kid: string, audience = "rollcall"): Promise<string> {
  return new SignJWT({ tenants: ["acme"], scope: "registry:read" })
    .setProtectedHeader({ alg, kid })
    .setSubject("someone")
    .setIssuer("rollcall")
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(keys.get(alg) as CryptoKey);
}

describe("tokens of an identity provider", () => {
  it.each(algorithms)("are accepted when signed with %s", async (alg) => {
    expect(await status(await token(alg, alg))).toBe(200);
  });

  it("are refused for another audience, another key, or the shared secret", async () => {
    expect(await status(await token("RS256", "RS256", "someone-else"))).toBe(401);
    expect(await status(await token("ES256", "RS256"))).toBe(401);
    const { stdout } = await runCli("token.ts", "--data", data, "--tenant", "acme");
    expect(await status(stdout.trim())).toBe(401);
  });

  it("with key ids no one has cause no more than one fetch", async () => {
    const before = fetches;
    const unknown = await Promise.all(Array.from({ length: 100 }, (_, index) => token("ES256", `nobody-${index}`)));
    expect(new Set(await Promise.all(unknown.map(status)))).toEqual(new Set([401]));
    expect(fetches - before).toBeLessThanOrEqual(1);
  });
});
