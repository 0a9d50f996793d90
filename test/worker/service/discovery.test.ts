import { describe, expect, it } from "vitest";
import { Registry } from "../support/registry.ts";

const registry = new Registry();
const get = (path: string) => registry.send("GET", path);

describe("discovery", () => {
  it("has a server card for everyone, with a tag", async () => {
    const answer = await new Registry({ vars: { CORS_ORIGINS: "https://one.example" } }).send(
      "GET",
      "/mcp/server-card",
    );
    expect(answer.status).toBe(200);
    const headers = ["Content-Type", "Access-Control-Allow-Origin", "Cache-Control"].map((name) =>
      answer.headers.get(name),
    );
    expect(headers).toEqual(["application/mcp-server-card+json", "*", "public, max-age=3600"]);
    const { $schema, name, version, description, remotes, ...rest } = answer.body;
    expect([$schema, name]).toEqual([
      expect.stringMatching(/^https:.*server-card\.schema\.json$/),
      "dev.rollcall/registry",
    ]);
    expect([version, description.length <= 100]).toEqual([expect.stringMatching(/^\d/), true]);
    const supportedProtocolVersions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
    expect(remotes).toEqual([{ type: "streamable-http", url: "https://registry.test/mcp", supportedProtocolVersions }]);
    expect(Object.keys(rest)).toEqual(["title"]);
    const etag = answer.headers.get("ETag") ?? "";
    const again = await registry.send("GET", "/mcp/server-card", { headers: { "If-None-Match": etag } });
    expect([again.status, again.text, again.headers.get("ETag")]).toEqual([304, "", etag]);
  });

  it("leads from the root to the description, the health, the card and the way in", async () => {
    const { headers } = await registry.send("GET", "/");
    const links = Array.from((headers.get("Link") ?? "").matchAll(/<([^>]+)>; rel="([^"]+)"/g), (match) => [
      match[1],
      match[2],
    ]);
    expect(links.map(([, relation]) => relation)).toEqual(["service-desc", "status", "service-meta", "service-meta"]);
    for (const [link] of links) expect([link, (await get(String(link))).status]).toEqual([link, 200]);
    const { body } = await get("/.well-known/ai-catalog.json");
    expect(body).toEqual({
      specVersion: "1.0",
      entries: [
        {
          identifier: "urn:air:registry.test:mcp:rollcall",
          type: "application/mcp-server-card+json",
          url: "https://registry.test/mcp/server-card",
        },
      ],
    });
  });

  it("takes the public address wherever it names itself", async () => {
    const elsewhere = new Registry({
      vars: { PUBLIC_URL: "https://public.example/", AUTHORIZATION_SERVERS: "https://id.example, https://id2.example" },
    });
    const card = await elsewhere.send("GET", "/mcp/server-card");
    expect(card.body.remotes[0].url).toBe("https://public.example/mcp");
    const metadata = await elsewhere.send("GET", "/.well-known/oauth-protected-resource/mcp");
    expect(metadata.body).toEqual({
      resource: "https://public.example/mcp",
      resource_name: "rollcall",
      scopes_supported: ["registry:read", "registry:publish"],
      bearer_methods_supported: ["header"],
      authorization_servers: ["https://id.example", "https://id2.example"],
    });
    expect(() => new Registry({ vars: { AUTHORIZATION_SERVERS: "id.example" } })).toThrow(/AUTHORIZATION_SERVERS/);
  });

  it("tells crawlers what is theirs, and has no agent card, for there is no agent", async () => {
    const robots = await get("/robots.txt");
    expect(robots.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(robots.text).toMatch(/^User-agent: \*\n(?:(?:Allow|Disallow): \/.*\n)+$/);
    for (const none of ["/.well-known/agent-card.json", "/.well-known/agent.json"])
      expect((await get(none)).status).toBe(404);
  });
});
