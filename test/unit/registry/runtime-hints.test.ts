import { describe, expect, it } from "vitest";
import { runtimeHints } from "../../../src/registry/views/capability.ts";

const hints = (metadata: unknown, id = "plain") => runtimeHints({ id, declared: { metadata } });

describe("runtime hints", () => {
  it("give the order of credentials and the variable that beats the declared URL, by name", () => {
    const mcp = {
      server_url: "https://api.example.com/mcp/",
      server_name: "git-hub",
      requires_session: "auto",
      auth_env_var: "MY_TOKEN",
      server_url_override_env: "MCP_SERVER_URL",
    };
    expect(hints({ mcp })).toEqual({
      url: { override_env: "MCP_SERVER_URL", declared: "https://api.example.com/mcp/" },
      auth: [
        { source: "explicit_token" },
        { source: "environment", name: "MY_TOKEN" },
        { source: "environment", name: "GIT_HUB_MCP_TOKEN" },
        { source: "environment", name: "MCP_AUTH_TOKEN" },
      ],
      session: { requires_session: "auto", use_session: true },
    });
  });

  it("pass on no value that was put where a name or a plain URL belongs", () => {
    const mcp = { server_url: "https://user:pass@a.example/mcp?token=t", auth_env_var: "ghp_abcdef123456" };
    expect(hints({ mcp })).toEqual({
      url: { declared: "https://a.example/mcp" },
      auth: [{ source: "explicit_token" }, { source: "environment", name: "MCP_AUTH_TOKEN" }],
    });
  });

  it.each([
    ["mcp.github.named", "GITHUB_MCP_TOKEN"],
    ["github/list_issues", "GITHUB_MCP_TOKEN"],
    ["mcp.github/list-issues.v2", "GITHUB_MCP_TOKEN"],
    ["mcp.my~2Eserver.tool", "MY_SERVER_MCP_TOKEN"],
    ["acme.weather.now", "ACME_WEATHER_MCP_TOKEN"],
    ["mcp.tool", undefined],
    ["tool", undefined],
  ])("take the server from the id %s where metadata does not name it", (id, variable) => {
    const names = hints({ mcp: { tool_name: "t" } }, id).auth?.map(({ name }) => name);
    expect(names).toEqual([undefined, ...(variable === undefined ? [] : [variable]), "MCP_AUTH_TOKEN"]);
    expect(hints({ mcp: { server_name: "hub" } }, id).auth?.[1]?.name).toBe("HUB_MCP_TOKEN");
  });

  it("name a variable once", () => {
    expect(hints({ mcp: { auth_env_var: "MCP_AUTH_TOKEN" } }).auth).toEqual([
      { source: "explicit_token" },
      { source: "environment", name: "MCP_AUTH_TOKEN" },
    ]);
  });

  it.each([
    ["true", true],
    ["auto", true],
    ["false", false],
  ])("take requires_session %s as the string it is", (requires_session, use_session) => {
    expect(hints({ mcp: { requires_session } }).session).toEqual({ requires_session, use_session });
  });

  it("know where other providers are, and nothing where there is nothing", () => {
    expect(hints({ openapi: { base_url: "https://a.example/v1" } })).toEqual({
      url: { declared: "https://a.example/v1" },
    });
    expect(hints({ graphql: { endpoint_url: "https://b.example/q" } })).toEqual({
      url: { declared: "https://b.example/q" },
    });
    expect(hints(undefined)).toEqual({});
  });
});
