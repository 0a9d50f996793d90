import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { directoryOf } from "../../../src/objects/stubs.ts";
import { capabilities, config, configs, Registry, token } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";

/** Many writes, on a machine that may be busy. */
export const slow = { timeout: 90_000 };

export let clock = Date.now();
export function pass(milliseconds: number): void {
  clock += milliseconds;
}
/** Asks the directory's object each time; `from-memory.test.ts` compares its answers with those from memory. */
export const registry = new Registry({ now: () => clock, cache: separateCache(), vars: { DIRECTORY_MB: "0" } });
export const directory = directoryOf(env, createUsage());
export const directoryStub = () => env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
export const tenantStub = (tenant: string) => env.TENANTS.get(env.TENANTS.idFromName(tenant));

export interface Item {
  tenant: string;
  name: string;
  [member: string]: unknown;
}
interface Facet {
  values: { value: string; count: number }[];
  more?: true;
}

export const catalog = (query = "", who?: string, headers: Record<string, string> = {}) =>
  registry.send("GET", `/api/catalog${query}`, { headers, ...(who === undefined ? {} : { token: who }) });
export const namesOf = (items: Item[]) => items.map(({ tenant, name }) => `${tenant}/${name}`);
export const names = async (query: string, who?: string) => {
  const { status, body } = await catalog(query, who);
  expect([query, status, body?.error]).toEqual([query, 200, undefined]);
  return namesOf(body.data.items);
};
export const asObject = ({ values }: Facet) => Object.fromEntries(values.map(({ value, count }) => [value, count]));

export async function writer(tenant: string) {
  const mine = await token({ tenants: [tenant], sub: `writer ${tenant}` });
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await registry.send(method, path, { token: mine, ...(body === undefined ? {} : { body }) });
    expect([method, path, answer.status < 300, answer.body?.error]).toEqual([method, path, true, undefined]);
    return answer;
  };
  return {
    token: mine,
    create: (name: string, settings = {}) => send("POST", configs, { tenant, name, ...settings }),
    settle: (name: string, settings = {}) => send("PUT", configs, { tenant, name, ...settings }),
    publish: (name: string, manifest: unknown) => send("PUT", capabilities(tenant, name), manifest),
    flip: (name: string, item: string, enabled: boolean) =>
      send("PATCH", capabilities(tenant, name), { items: [{ kind: "tool", name: item, enabled }] }),
    remove: (name: string) => send("DELETE", config(tenant, name)),
  };
}

export const [catA, catB] = await Promise.all([writer("cat-a"), writer("cat-b")]);
export const both = await token({ tenants: ["cat-b", "cat-a"] });
export const admin = await token({ admin: true });
export const outsider = await token({ tenants: ["cat-z"], sub: "outsider" });
export const mine = "tenant=cat-a&tenant=cat-b";

/** Servers of both tenants, public and not, of several kinds. */
export async function seed(): Promise<void> {
  await catA.create("open", { visibility: "public", title: "Open", description: "d".repeat(2_000) });
  await catA.publish("open", {
    version: "2",
    tools: [
      { name: "read", category: "query", permissions: ["files:read"], effects: ["none, really"] },
      { name: "write", category: "storage", permissions: ["files:read", "files:write"], effects: ["write"] },
    ],
    prompts: [{ name: "ask" }],
  });
  await catA.create("hidden");
  await catA.publish("hidden", {
    tools: [{ name: "secret", category: "private-category", permissions: ["private-permission"], provider: "custom" }],
  });
  await catA.create("old", { status: "deprecated", visibility: "public" });
  await catB.create("api", { visibility: "public" });
  await catB.publish("api", {
    operations: [
      {
        name: "list",
        provider: "openapi",
        category: "query",
        metadata: { openapi: {}, discovery: { capability_type: "rest_api" } },
      },
    ],
  });
  await catB.create("inner");
  await catB.publish("inner", { generators: [{ type: "g", category: "query" }] });
}
