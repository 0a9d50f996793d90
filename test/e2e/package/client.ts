import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import {
  ChainBroken,
  type Client,
  createClient,
  isRollcallError,
} from "../../../packages/rollcall/src/client/index.ts";
import {
  currentServer,
  lockServer,
  parseLockFile,
  pinsOf,
  verifyLock,
} from "../../../packages/rollcall/src/lock/index.ts";
import type { Shared } from "./shared.ts";

/** The client library in Node, against a real registry. */
export function clientSuite(shared: Shared): void {
  let client: Client;
  let token: string;
  const manifest = (description: string) => ({
    version: "1",
    tools: [{ name: "lib_echo", description, inputSchema: { type: "object" } }],
  });

  beforeAll(async () => {
    token = await shared.token("lib");
    client = createClient({ url: shared.registry.url, token: () => token });
    await client.publish("lib/s", manifest("Echoes what it is told."));
  });

  describe("the client", () => {
    it("finds, page by page", async () => {
      const page = await client.search("echo what it is told", { tenants: ["lib"], limit: 1 });
      expect(page.items[0]).toMatchObject({ tenant: "lib", name: "lib_echo" });
      const all: string[] = [];
      for await (const { name } of page.all()) all.push(name);
      expect(all).toEqual(["lib_echo"]);
    });

    it("answers a second read with the same frozen object", async () => {
      const first = await client.read("lib/s");
      const second = await client.read("lib/s");
      expect(second).toBe(first);
      expect(Object.isFrozen(first.tools)).toBe(true);
      expect(first.meta.generation).toBeGreaterThan(0);
      expect(JSON.stringify(first)).not.toContain('"meta"');
    });

    it("reads what it wrote", async () => {
      for (const text of ["One.", "Two.", "Three."]) {
        const { generation } = await client.publish("lib/s", manifest(text));
        const read = await client.read("lib/s");
        expect(read.tools[0]?.description).toBe(text);
        expect(read.meta.generation).toBeGreaterThanOrEqual(generation ?? 0);
      }
    });

    it("forgets a generation that the registry does not know", async () => {
      client.connection.generations.set("lib", 1_000_000);
      expect((await client.read("lib/s")).tools).toHaveLength(1);
      await expect(client.read("lib/s", { minGeneration: 1_000_000 })).rejects.toMatchObject({ status: 412 });
    });

    it("follows changes, and notices a broken chain", async () => {
      const stop = new AbortController();
      const seen: number[] = [];
      for await (const change of client.changes("lib", { since: 0, verify: true, signal: stop.signal })) {
        seen.push(change.sequence);
        if (seen.length === 3) break;
      }
      expect(seen).toEqual([1, 2, 3]);
      const forged = client.changes("lib", { since: 1, hash: "sha256-forged", verify: true, signal: stop.signal });
      await expect(forged.next()).rejects.toBeInstanceOf(ChainBroken);
      stop.abort();
    });

    it("resumes a session that ended, and repeats the call", async () => {
      await using session = await client.negotiate({ task: "echo", budget: 500 });
      const before = session.negotiation.session;
      const ended = createClient({ url: shared.registry.url, token });
      await ended.connection.send("DELETE", "/mcp/session", { headers: { "X-MCP-Session-ID": before.id ?? "" } });
      const answer = await session.call("search_capabilities", { task: "echo" });
      expect(answer).toBeTypeOf("object");
      expect(session.negotiation.session.created_at).toBeGreaterThanOrEqual(before.created_at);
    });

    it("pins and verifies without the command line", async () => {
      const locked = lockServer(await currentServer(client.connection, "lib/s"));
      const lock = { lockfileVersion: 1, registry: shared.registry.url, servers: { "lib/s": locked } };
      expect(await verifyLock(client.connection, lock)).toMatchObject({ ok: true });
      const [pin] = await pinsOf(client.connection, lock);
      expect(pin).toMatchObject({ tenant: "lib", digest: locked.capabilities["tool:lib_echo"]?.digest });
      await client.publish("lib/s", { ...manifest("Echoes, and more."), version: "2" });
      const verdict = await verifyLock(client.connection, parseLockFile(JSON.stringify(lock)));
      expect(verdict.ok).toBe(false);
      expect(verdict.servers[0]?.findings[0]).toMatchObject({
        item: "tool:lib_echo",
        finding: "changed",
        class: "cosmetic",
        level: "fail",
      });
      await using session = await client.negotiate({
        task: "echo",
        budget: 500,
        pins: [pin ?? { id: "", digest: "" }],
      });
      expect(session.changed.map(({ id }) => id)).toEqual([pin?.id]);
    });

    it("has errors with code, hint and request id, and asks for a new token once", async () => {
      let asked = 0;
      const stale = createClient({
        url: shared.registry.url,
        token: () => {
          asked += 1;
          return asked === 1 ? "not.a.token" : token;
        },
      });
      expect((await stale.whoami()).tenants).toEqual(["lib"]);
      expect(asked).toBe(2);
      const error = await client.read("lib/nothing").catch((thrown: unknown) => thrown);
      expect(isRollcallError(error, "ErrorMCPServerNotFound")).toBe(true);
      expect(error).toMatchObject({ status: 404, requestId: expect.any(String), retryable: false });
    });

    it("sends its token to no other origin", async () => {
      const seen: (string | undefined)[] = [];
      const other = createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.end("{}");
      });
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
      const target = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      const moving = createServer((_request, response) => response.writeHead(307, { Location: target }).end());
      await new Promise<void>((resolve) => moving.listen(0, "127.0.0.1", resolve));
      const moved = createClient({ url: `http://127.0.0.1:${(moving.address() as AddressInfo).port}`, token });
      await expect(moved.whoami()).rejects.toMatchObject({ code: "ErrorNotRegistry" });
      await expect(moved.connection.send("GET", `//${new URL(target).host}/x`)).rejects.toThrow();
      await expect(createClient({ url: "http://registry.test", token }).whoami()).rejects.toMatchObject({
        code: "ErrorInsecure",
      });
      expect(seen).toEqual([]);
      for (const server of [other, moving]) {
        server.closeAllConnections();
        server.close();
      }
    });
  });
}
