import { expect, it } from "vitest";
import { digestOf } from "../../../src/kernel/digest.ts";
import { capabilities, drained, Registry, token } from "../support/registry.ts";

const registry = new Registry();

/** Written as text: which escapes its keys have is what this is about. They sort after the blank, stored too. */
const manifest = (key: string) =>
  `{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object","properties":{" ":{},"${key}":{}}}}]}`;

it("reads the keys of one tenant as written after another tenant's", async () => {
  const written = { first: String.raw`\\`, second: String.raw`\"`, third: String.raw`\\a` };
  for (const [tenant, key] of Object.entries(written)) {
    const owner = await token({ tenants: [tenant] });
    const path = capabilities(tenant, "keys");
    const put = await registry.send("PUT", path, { token: owner, body: manifest(key) });
    expect(put.status).toBe(201);
    await drained(tenant);
    const read = await registry.send("GET", path, { token: owner, headers: { "Cache-Control": "no-cache" } });
    expect(read.text).toContain(`"properties":{" ":{},"${key}":{}}`);
    const revision = await registry.send("GET", `${path}/revisions/${put.body.data.digest}`, { token: owner });
    expect(await digestOf(revision.body.data.manifest)).toBe(put.body.data.digest);
  }
});
