import { describe, expect, it } from "vitest";
import { version } from "../../../src/kernel/version.ts";
import { Registry, token } from "../support/registry.ts";

const registry = new Registry();
const path = "/api/whoami";

describe("GET /api/whoami", () => {
  it("answers a caller without a token, and does not name its address", async () => {
    const { status, body } = await registry.send("GET", path, { headers: { "CF-Connecting-IP": "192.0.2.7" } });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      subject: null,
      tenants: [],
      scopes: ["registry:read"],
      admin: false,
      expiresAt: null,
      registry: { version, features: expect.objectContaining({ authentication: true, negotiation_required: false }) },
    });
  });

  it("says what a token grants and until when", async () => {
    const now = Date.parse("2099-01-31T12:00:00Z");
    const later = new Registry({ now: () => now });
    const bearer = await token({ sub: "ann", tenants: ["Acme", "demo"], scope: "registry:read" }, now);
    const { body } = await later.send("GET", path, { token: bearer });
    expect(body.data).toMatchObject({
      subject: "ann",
      tenants: ["acme", "demo"],
      scopes: ["registry:read"],
      admin: false,
      expiresAt: "2099-01-31T13:00:00.000Z",
    });
  });

  it("takes a token of any scope, and no token that is not valid", async () => {
    const publisher = await token({ tenants: ["demo"], scope: "registry:publish" });
    expect((await registry.send("GET", path, { token: publisher })).body.data.scopes).toEqual(["registry:publish"]);
    const refused = await registry.send("GET", path, { token: "made.up.token" });
    expect([refused.status, refused.body.error.code]).toEqual([401, "ErrorUnauthorized"]);
  });

  it("is limited like any other read", async () => {
    const limited = new Registry({ vars: { READ_LIMIT: "1/2" } });
    const statuses = [];
    for (let turn = 0; turn < 4; turn += 1) statuses.push((await limited.send("GET", path)).status);
    expect(statuses.at(-1)).toBe(429);
  });
});
