import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clientIds, clients } from "../../../src/connect/clients.ts";
import { connectForm, connectForms } from "../../../src/connect/forms.ts";
import { registryTarget } from "../../../src/connect/target.ts";
import { targetOf, targets, weather } from "./shared.ts";

const bridge = { command: "rollcall", args: [] };
const cases = Object.entries(targets).flatMap(([name, target]) =>
  clientIds.map((client) => ({
    client,
    name,
    target,
    file: `${client}.${name}.${client === "codex" ? "toml" : "json"}`,
  })),
);
const expected = (file: string) => join(import.meta.dirname, "expected", file);

describe("the file of each client is as its documentation says", () => {
  it.each(cases.filter(({ file }) => existsSync(expected(file))))("$file", ({ client, target, file }) => {
    const form = connectForm(client, target, client === "claude-desktop" ? { bridge } : {});
    const text = readFileSync(expected(file), "utf8");
    if (client === "codex") expect(`${form.snippet}\n`).toBe(text);
    else expect(form.snippet).toBe(JSON.stringify(JSON.parse(text), null, 2));
    expect(form.problem).toBeUndefined();
  });

  it("is written for every client that has a file", () => {
    const without = cases.filter(
      ({ client, file }) => clients[client].file !== undefined && !existsSync(expected(file)),
    );
    // Its file takes commands only.
    expect(without.map(({ file }) => file)).toEqual(["claude-desktop.remote.json"]);
  });
});

describe("links", () => {
  it("VS Code gets the entry, its name and its prompts", () => {
    const { link = "", prompts, entry } = connectForm("vscode", targets.registry);
    const [scheme, json = ""] = link.split("?");
    expect(scheme).toBe("vscode:mcp/install");
    expect(JSON.parse(decodeURIComponent(json))).toEqual({ name: "rollcall", ...entry, inputs: prompts });
  });

  it("Cursor gets name and base64", () => {
    const url = new URL(connectForm("cursor", targets.package).link ?? "");
    expect(`${url.protocol}//${url.host}${url.pathname}`).toBe("cursor://anysphere.cursor-deeplink/mcp/install");
    expect(url.searchParams.get("name")).toBe("weather");
    expect(JSON.parse(atob(url.searchParams.get("config") ?? ""))).toMatchObject({ command: "npx" });
  });
});

describe("commands", () => {
  it("keep the reference, not the token", () => {
    const command = (client: "claude-code" | "gemini" | "codex") => connectForm(client, targets.registry).command;
    const url = "https://registry.acme.dev/mcp";
    expect(command("claude-code")).toBe(
      `claude mcp add --scope project --transport http rollcall ${url} --header 'Authorization: Bearer \${ROLLCALL_TOKEN}'`,
    );
    expect(command("gemini")).toBe(
      `gemini mcp add --scope user --transport http --header 'Authorization: Bearer \${ROLLCALL_TOKEN}' rollcall ${url}`,
    );
    expect(command("codex")).toBe(`codex mcp add rollcall --url ${url} --bearer-token-env-var ROLLCALL_TOKEN`);
  });

  it("curl names the revision in header and body, and takes the token from the environment", () => {
    const { snippet = "", language, asks } = connectForm("curl", targets.registry);
    expect(language).toBe("sh");
    expect(snippet).toContain("'MCP-Protocol-Version: 2026-07-28'");
    expect(snippet).toContain(`-H 'Authorization: Bearer '"$ROLLCALL_TOKEN"`);
    expect(asks).toMatchObject([{ id: "token", secret: true, how: "environment", variable: "ROLLCALL_TOKEN" }]);
  });

  it("quote whatever a publisher wrote", () => {
    const nasty = 'it\'s; rm -rf / & "x" `y`';
    const target = targetOf({
      packages: [
        {
          registryType: "npm",
          identifier: "x",
          version: "1.0.0",
          packageArguments: [{ type: "positional", value: nasty }],
        },
      ],
    });
    expect(connectForm("claude-code", target).command).toBe(
      `claude mcp add --scope project --transport stdio weather -- npx -y x@1.0.0 'it'\\''s; rm -rf / & "x" \`y\`'`,
    );
  });
});

describe("the registry", () => {
  it("needs no token for what is public", () => {
    const form = connectForm("vscode", registryTarget("http://127.0.0.1:8787", { token: false }));
    expect(form.entry).toEqual({ type: "http", url: "http://127.0.0.1:8787/mcp" });
    expect(form.asks).toEqual([]);
    expect(JSON.parse(form.snippet ?? "")).not.toHaveProperty("inputs");
  });

  it("is reached through rollcall mcp where a token would have to be pasted every day", () => {
    const given = { bridge: { command: "/opt/node", args: ["/opt/rollcall.js"] } };
    const args = ["/opt/rollcall.js", "mcp", "--url", "https://registry.acme.dev"];
    for (const client of ["claude-code", "claude-desktop"] as const)
      expect(connectForm(client, targets.registry, given).entry).toEqual({ command: "/opt/node", args });
    expect(connectForm("claude-desktop", targets.registry).problem).toContain("Connectors");
    // Others have a prompt or a variable for the token.
    expect(connectForm("vscode", targets.registry, given).entry).toMatchObject({ type: "http" });
  });
});

describe("what is not part of a snippet", () => {
  it("has ten forms, each with a snippet or a reason", () => {
    for (const target of Object.values(targets)) {
      const forms = connectForms(target);
      expect(forms.map(({ client }) => client)).toEqual(clientIds);
      for (const { snippet, problem } of forms) expect((snippet === undefined) !== (problem === undefined)).toBe(true);
    }
  });

  it("no secret, not even one that the publisher wrote or the reader typed", () => {
    const secret = "s3cr3t-in-the-document";
    const declared = { isSecret: true, isRequired: true, value: secret, default: secret };
    const server = {
      remotes: [{ type: "streamable-http", url: "https://a.dev/mcp", headers: [{ name: "X-Key", ...declared }] }],
      packages: [
        {
          registryType: "npm",
          identifier: "x",
          version: "1.0.0",
          environmentVariables: [{ name: "KEY", ...declared }],
        },
      ],
    };
    const answers = { values: { "X-Key": "typed-secret", KEY: "typed-secret" } };
    const forms = [{ remotes: server.remotes }, { packages: server.packages }].flatMap((way) =>
      connectForms(targetOf(way), { answers }),
    );
    expect(forms.filter(({ snippet }) => snippet !== undefined).length).toBeGreaterThan(15);
    expect(JSON.stringify(forms)).not.toMatch(/s3cr3t|typed-secret/);
  });

  it("optional inputs that nobody chose; a flag goes with its value", () => {
    const { entry } = connectForm("cursor", targets.package);
    expect(JSON.stringify(entry)).not.toMatch(/--cache|WEATHER_LANGUAGE/);
    const chosen = { values: { cache: "/tmp/w", WEATHER_LANGUAGE: "de" } };
    expect(connectForm("cursor", targets.package, { answers: chosen }).entry).toMatchObject({
      args: ["-y", "@acme/weather-mcp@1.4.0", "--units", "metric", "--cache", "/tmp/w"],
      env: { WEATHER_LANGUAGE: "de" },
    });
    const local = { packages: [{ ...weather.packages[0], environmentVariables: [] }] };
    const command = (answers?: typeof chosen) => connectForm("claude-code", targetOf(local), { answers }).command ?? "";
    expect([command(), command(chosen)].map((text) => text.includes("--cache"))).toEqual([false, true]);
    const region = { answers: { values: { region: "us" } } };
    expect(connectForm("cursor", targets.remote, region).entry).toMatchObject({
      url: "https://us.weather.acme.dev/mcp",
    });
  });

  it("an optional secret is asked for where it was chosen", () => {
    const optional = { name: "X-Trial", isSecret: true };
    const target = targetOf({ remotes: [{ ...weather.remotes[0], headers: [optional] }] });
    expect(connectForm("vscode", target).asks).toEqual([]);
    expect(connectForm("vscode", target, { answers: { include: ["X-Trial"] } }).asks).toMatchObject([
      { id: "X-Trial", how: "prompt" },
    ]);
  });

  it("a value from a link that a client would expand", () => {
    const answers = { values: { region: `\${env:AWS_SECRET_ACCESS_KEY}` } };
    expect(connectForm("cursor", targets.remote, { answers }).problem).toContain("The value of region");
  });
});

describe("older transports", () => {
  const sse = targetOf({ remotes: [{ type: "sse", url: "https://old.acme.dev/sse" }] });
  it.each([
    ["claude-code", { type: "sse", url: "https://old.acme.dev/sse" }],
    ["gemini", { url: "https://old.acme.dev/sse" }],
    ["windsurf", { serverUrl: "https://old.acme.dev/sse" }],
    ["cline", { type: "sse", url: "https://old.acme.dev/sse" }],
  ] as const)("%s", (client, entry) => {
    expect(connectForm(client, sse).entry).toEqual(entry);
  });
  it.each(["codex", "curl"] as const)("%s cannot", (client) => {
    expect(connectForm(client, sse).problem).toContain("SSE");
  });
});

it("Codex composes no headers: what is not one variable is a gap to fill", () => {
  const header = { name: "Authorization", value: "Token {key}", variables: { key: { isSecret: true } } };
  const form = connectForm("codex", targetOf({ remotes: [{ url: "https://a.dev/mcp", headers: [header] }] }));
  expect(form.snippet).toContain('http_headers = { "Authorization" = "Token <WEATHER_KEY>" }');
  expect(form.asks).toMatchObject([{ how: "replace", variable: "WEATHER_KEY" }]);
  expect(form.command).toBeUndefined();
});
