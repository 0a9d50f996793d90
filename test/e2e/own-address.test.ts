import { connect } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { stopAll } from "./support/process.ts";
import { type RegistryProcess, startRegistry } from "./support/registry-process.ts";

let registry: RegistryProcess | undefined;

afterEach(async () => {
  await registry?.remove();
  registry = undefined;
});
afterAll(stopAll);

/** What the server answers to these lines, from an address of this machine. The runtime keeps every connection. */
function raw(url: string, lines: string[], localAddress = "127.0.0.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), localAddress });
    let text = "";
    const look = () => {
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
      if (head >= 0 && text.length >= head + 4 + length) socket.destroy();
    };
    // One character for each byte, so that lengths agree.
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      look();
    });
    socket.on("close", () => resolve(text)).on("error", reject);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  });
}

describe("the embedded server", () => {
  const pathsWithLinks = [
    ...["/openapi.json", "/openapi.yaml", "/llms.txt", "/.well-known/oauth-protected-resource"],
    ...["/.well-known/oauth-protected-resource/mcp", "/mcp/server-card", "/.well-known/ai-catalog.json"],
    ...["/v0.1/servers", "/api/whoami?tenant=x", "/api/hooks?tenant=acme"],
  ];

  it("names in its links the host that it was asked by only if that is its own", async () => {
    registry = await startRegistry("acme");
    const { url } = registry;
    const { port } = new URL(url);
    for (const path of pathsWithLinks) {
      for (const foreign of ["evil.test", "evil.test:80", "127.0.0.1.evil.test", "localhost@evil.test", "[::2]"]) {
        const answer = await raw(url, [`GET ${path} HTTP/1.1`, `Host: ${foreign}`]);
        expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
        expect(answer).not.toMatch(/evil\.test|::2/);
      }
      const absolute = await raw(url, [`GET http://evil.test${path} HTTP/1.1`, "Host: evil.test"]);
      expect(absolute).not.toContain("evil.test");
      const forwarded = ["X-Forwarded-Host: evil.test", "Forwarded: host=evil.test", "X-Forwarded-Proto: https"];
      const through = await raw(url, [`GET ${path} HTTP/1.1`, `Host: localhost:${port}`, ...forwarded]);
      expect(through).not.toMatch(/evil\.test|https:\/\/localhost/);
    }
    const card = (host: string) => raw(url, ["GET /mcp/server-card HTTP/1.1", `Host: ${host}`]);
    expect(await card("evil.test")).toContain(`http://127.0.0.1:${port}/mcp`);
    expect(await card(`localhost:${port}`)).toContain(`http://localhost:${port}/mcp`);
  });

  it("tells callers without a token apart by their connections, whatever their headers say", async () => {
    registry = await startRegistry("acme", { READ_LIMIT: "1/8" });
    const { url } = registry;
    const ask = (from: string, number: number) => {
      const claims = [
        `CF-Connecting-IP: 192.0.2.${number}`,
        `MF-CF-Blob: {"clientIp":"192.0.2.${number}:1"}`,
        `X-Forwarded-For: 192.0.2.${number}`,
        `X-Real-IP: 192.0.2.${number}`,
      ];
      return raw(url, ["GET /api/whoami HTTP/1.1", "Host: localhost", ...claims], from);
    };
    const asked = await Promise.all(Array.from({ length: 24 }, (_, number) => ask("127.0.0.1", number)));
    expect(asked.filter((answer) => answer.startsWith("HTTP/1.1 429")).length).toBeGreaterThan(8);
    expect(await ask("127.0.0.2", 1)).toMatch(/^HTTP\/1\.1 200/);
  });

  it("takes the address from the header of a proxy that the operator names, and from no other", async () => {
    registry = await startRegistry("acme", { READ_LIMIT: "1/8", CLIENT_ADDRESS: "X-Forwarded-For" });
    const { url } = registry;
    const ask = (claim: string) => raw(url, ["GET /api/whoami HTTP/1.1", "Host: localhost", claim]);
    const statuses = async (claims: string[]) =>
      (await Promise.all(claims.map(ask))).map((answer) => Number(answer.slice(9, 12)));
    const numbers = Array.from({ length: 24 }, (_, number) => number);
    // What is before the last comma came with the request.
    const last = await statuses(numbers.map((number) => `X-Forwarded-For: 198.51.100.1, 192.0.2.${number}`));
    expect(new Set(last)).toEqual(new Set([200]));
    const first = await statuses(numbers.map((number) => `X-Forwarded-For: 198.51.100.${number}, 203.0.113.1`));
    expect(first).toContain(429);
    expect(await statuses(numbers.map((number) => `CF-Connecting-IP: 192.0.2.${number}`))).toContain(429);
  });
});
