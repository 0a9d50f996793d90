import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Head } from "../../../src/registry/contract.ts";
import { capabilities, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const tenant = "busy";
let member: string;

beforeAll(async () => {
  member = await token({ tenants: [tenant] });
});

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  registry.send(method, path, { token: member, headers, ...(body === undefined ? {} : { body }) });

async function log(since = 0): Promise<{ generation: number; server: string }[]> {
  const { body } = await send("GET", `/api/changes/${tenant}?since=${since}&limit=1000`);
  return body.data.items;
}

describe("200 publishes to one tenant at once", () => {
  it("leaves a gapless order, nothing acknowledged out of the log, and KV at the object's last head", async () => {
    const publishes = Array.from({ length: 200 }, (_, index) =>
      // Half of them fight over one server, the rest have one each.
      send("PUT", capabilities(tenant, index % 2 === 0 ? "contested" : `own-${index}`), tools(`tool_${index}`)),
    );
    const answers = await Promise.all(publishes);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));

    const generations = answers.map(({ body }) => body.data.generation as number).sort((a, b) => a - b);
    expect(generations).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    const logged = new Set((await log()).map(({ generation }) => generation));
    expect(generations.every((generation) => logged.has(generation))).toBe(true);

    await drained(tenant);
    const last = answers
      .filter(({ body }) => body.data.generation)
      .sort((a, b) => b.body.data.generation - a.body.data.generation);
    const object = await env.TENANTS.get(env.TENANTS.idFromName(tenant));
    for (const name of ["contested", "own-1", "own-199"]) {
      const { head } = await (object as unknown as { head(name: string): Promise<{ head: Head }> }).head(name);
      const stored = await env.REGISTRY.get<Head>(`head/${tenant}/${name}`, "json");
      expect({ ...stored, asOf: 0 }).toEqual({ ...head, asOf: 0 });
    }
    expect(last[0]?.body.data.generation).toBe(200);
  });
});

describe("optimistic writers on one server", () => {
  it("are linearizable: every acknowledged write was based on the one before it", async () => {
    const path = capabilities(tenant, "ledger");
    await send("PUT", path, tools("step_0"));
    const acknowledged: { from: string; to: string }[] = [];
    const writer = async (id: number) => {
      for (let won = 0; won < 5; ) {
        const current = await send("GET", path, undefined, { "Cache-Control": "no-cache" });
        const from = current.body.data.registry.digest as string;
        const answer = await send("PUT", path, tools(`writer_${id}_${won}_${acknowledged.length}`), {
          "If-Match": `"${from}"`,
        });
        if (answer.status === 412) continue;
        expect(answer.status).toBe(200);
        acknowledged.push({ from, to: answer.body.data.digest });
        won += 1;
      }
    };
    await Promise.all([1, 2, 3, 4].map(writer));

    const { body } = await send("GET", `${path}/revisions?limit=100`);
    const history = (body.data.items as { digest: string }[]).map(({ digest }) => digest).reverse();
    expect(history).toHaveLength(21);
    for (const { from, to } of acknowledged) expect(history.indexOf(to)).toBe(history.indexOf(from) + 1);
  });
});
