import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { readPeers } from "../../bench/harness/read-peers.ts";
import { tryPeer } from "../../bench/harness/try-peer.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers these paths, and 404 to everything else. */
async function answering(answers: Record<string, unknown>): Promise<string> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? "not found"));
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function tried(name: string, where: string) {
  const [peer] = await readPeers([`${name}=${where}`]);
  if (peer === undefined) throw new Error("There is no peer");
  return tryPeer(peer);
}

const own = (origin: string, paths: { list: string; get: string; search?: string }) =>
  tryPeer({ name: "other", origin, paths, headers: {} });

test("a peer with the official API is searched for a word of its own that it finds", async () => {
  const url = await answering({
    "/v0.1/servers?limit=30": { servers: [{ server: { name: "io.example/big-weather" } }] },
    "/v0.1/servers/io.example%2Fbig-weather/versions/latest": { server: {} },
    "/v0.1/servers?search=weather&limit=5": { servers: [] },
    "/v0.1/servers?search=big&limit=5": { servers: [{ server: { name: "io.example/big-weather" } }] },
  });
  expect((await tried("official", url)).paths).toEqual({
    list: "/v0.1/servers?limit=30",
    get: "/v0.1/servers/io.example%2Fbig-weather/versions/latest",
    search: "/v0.1/servers?search=big&limit=5",
  });
});

test("fields of the first server listed are put into a peer's own paths; a search may be absent", async () => {
  const url = await answering({ "/list": { data: [{ tenant: "a b", name: "c" }] }, "/get/a%20b/c": {} });
  const { paths } = await own(url, { list: "/list", get: "/get/{tenant}/{name}" });
  expect(paths.get).toBe("/get/a%20b/c");
  await expect(own(url, { list: "/list", get: "/get/{id}" })).rejects.toThrow('has no "id" for /get/{id}');
});

test("what cannot be compared is told with the peer and the question", async () => {
  const url = await answering({
    "/list": [{ name: "c" }],
    "/get": {},
    "/none": { items: [], next: 1 },
    "/html": "<p>",
  });
  const fine = { list: "/list", get: "/get", search: "/list" };
  await expect(own(url, { ...fine, list: "/none" })).rejects.toThrow("other: GET /none lists no server.");
  await expect(own(url, { ...fine, list: "/html" })).rejects.toThrow("other: GET /html answered what is not JSON");
  await expect(own(url, { ...fine, get: "/gone" })).rejects.toThrow(`other: GET ${url}/gone answered 404`);
  await expect(own(url, { ...fine, search: "/none" })).rejects.toThrow("other: GET /none finds nothing.");
  await expect(tried("dead", "http://127.0.0.1:1")).rejects.toThrow(/^dead: GET .* failed: .*ECONNREFUSED/);
});

test.each([
  [["rollcall=http://127.0.0.1:1"], "what this registry is called"],
  [["a=http://127.0.0.1:1", "a=http://127.0.0.1:2"], "--peer a is given twice"],
  [["a=http://127.0.0.1:1/base"], "more than a host and a port"],
  [["a"], "NAME=URL or NAME=FILE"],
  [["a=package-lock.missing"], "neither a URL nor a file"],
  [["a=README.md"], "README.md is not JSON"],
  [["a=package.json"], "package.json: "],
])("--peer %j is refused", async (texts, message) => {
  await expect(readPeers(texts)).rejects.toThrow(message);
});
