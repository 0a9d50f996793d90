import { beforeAll, describe, expect, it, vi } from "vitest";
import { capabilities, configs, drained, Registry, token } from "../support/registry.ts";
import { separateCache } from "../support/stale-kv.ts";
import { built } from "./edges.ts";

/** Pages before and after the directory was rebuilt, from memory and from the object. */
const tenants = ["cur-a", "cur-b", "Cur-C"];
const names = ["one", "two", "three"];
const all = tenants.flatMap((tenant) => names.map((name) => `${tenant.toLowerCase()}/${name}`)).sort();
let clock = Date.now();
const memory = new Registry({ now: () => clock, cache: separateCache() });
const object = new Registry({ now: () => clock, cache: separateCache(), vars: { DIRECTORY_MB: "0" } });
let admin: string;

interface Page {
  names: string[];
  next: string | undefined;
  state: string | null;
}

const lists = {
  "the catalogue": "/api/catalog?limit=2&facets=false",
  "the catalogue, last changed first": "/api/catalog?limit=2&facets=false&order=updated",
  "the official API": "/v0.1/servers?limit=2",
};

async function page(where: Registry, path: string, cursor?: string): Promise<Page> {
  const { status, body, headers } = await where.send("GET", cursor === undefined ? path : `${path}&cursor=${cursor}`);
  expect([status, body.error]).toEqual([200, undefined]);
  const state = headers.get("Rollcall-Directory");
  if (path.startsWith("/v0.1")) {
    const listed = body.servers.map(({ server }: { server: { name: string } }) => server.name.toLowerCase());
    return { names: listed, next: body.metadata.nextCursor, state };
  }
  const listed = body.data.items.map(({ tenant, name }: { tenant: string; name: string }) =>
    `${tenant}/${name}`.toLowerCase(),
  );
  return { names: listed, next: body.data.nextCursor, state };
}

async function rebuild(): Promise<void> {
  let cursor: string | undefined;
  let epoch = "";
  do {
    const { status, body } = await memory.send("POST", "/api/directory/rebuild", {
      token: admin,
      body: cursor === undefined ? {} : { cursor },
    });
    expect(status).toBe(200);
    cursor = body.data.nextCursor;
    epoch = body.data.directory.split(".")[0];
  } while (cursor !== undefined);
  for (const tenant of tenants) await drained(tenant.toLowerCase());
  await built();
  await loaded(epoch);
}

/** Until the isolate has the directory of that epoch, or any. */
async function loaded(epoch = ""): Promise<void> {
  await vi.waitFor(async () => {
    clock += 61_000;
    const { headers } = await memory.send("GET", "/api/catalog?limit=1");
    expect(headers.get("Rollcall-Directory")).toMatch(new RegExp(`^${epoch}`));
    expect(headers.get("Rollcall-Source")).toBe("memory");
  });
}

beforeAll(async () => {
  admin = await token({ admin: true });
  for (const tenant of tenants) {
    const who = await token({ tenants: [tenant], sub: tenant });
    for (const name of names) {
      await memory.send("POST", configs, { token: who, body: { tenant, name, visibility: "public" } });
      const tool = { name: `quokka_${name}`, description: `Feeds a quokka: ${tenant} ${name}.` };
      await memory.send("PUT", capabilities(tenant, name), { token: who, body: { tools: [tool] } });
    }
    await drained(tenant.toLowerCase());
  }
  await built();
  await loaded();
});

describe.sequential("after a rebuild", () => {
  it.each(Object.entries(lists))("pages of %s go on where they were: each server exactly once", async (_, path) => {
    for (const where of [memory, object]) {
      const first = await page(where, path);
      expect(first.names).toHaveLength(2);
      await rebuild();
      const seen = [...first.names];
      let epoch = first.state?.split(".")[0];
      for (let next = first.next; next !== undefined; ) {
        const more = await page(where, path, next);
        epoch = more.state?.split(".")[0];
        seen.push(...more.names);
        next = more.next;
      }
      expect(seen.toSorted()).toEqual(all);
      expect(epoch).toBeDefined();
      expect(epoch).not.toBe(first.state?.split(".")[0]);
    }
  });

  it("a page of a ranked search is refused, which says what to do", async () => {
    for (const where of [memory, object]) {
      const search = "/api/search?task=feed%20a%20quokka&limit=2";
      const first = await where.send("GET", search);
      const { nextCursor } = first.body.data;
      expect(nextCursor).toBeDefined();
      expect((await where.send("GET", `${search}&cursor=${nextCursor}`)).status).toBe(200);
      await rebuild();
      const late = await where.send("GET", `${search}&cursor=${nextCursor}`);
      expect([late.status, late.body.error.code]).toEqual([410, "ErrorCursorExpired"]);
      expect(JSON.stringify(late.body.error)).toMatch(/first page/);
    }
  });
});
