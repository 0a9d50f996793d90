import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, oldestNode, run } from "./installed.ts";
import type { Shared } from "./shared.ts";

/** Everything that can go wrong has a sentence, a next step and an exit code, and leaves nothing half done. */

const manifest = (...names: string[]) => ({
  version: "1",
  tools: names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } })),
});

export function mistakeSuite(shared: Shared): void {
  let home: string;
  let env: Record<string, string>;
  let token: string;
  const servers: Server[] = [];

  beforeAll(async () => {
    home = mkdtempSync(join(shared.installed.folder, "mistakes-"));
    token = await shared.token("wrong");
    env = { ROLLCALL_URL: shared.registry.url, ROLLCALL_TOKEN: token, XDG_CONFIG_HOME: join(home, "nothing") };
    writeFileSync(join(home, "good.json"), JSON.stringify(manifest("wrong_a", "wrong_b", "wrong_c")));
    writeFileSync(join(home, "one.json"), JSON.stringify(manifest("wrong_a")));
  });

  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  const rollcall = (args: string[], extra: Record<string, string> = {}, input = ""): Promise<Outcome> =>
    run(shared.installed, args, { env: { ...env, ...extra }, cwd: home, input });

  /** A server that answers as the test says. */
  async function answering(handle: Parameters<typeof createServer>[1]): Promise<string> {
    const server = createServer(handle);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function signed(claims: {
    audience?: string;
    tenants?: string[];
    scope?: string;
    expires?: number;
  }): Promise<string> {
    const secret = new TextEncoder().encode(readFileSync(join(shared.registry.data, "secret"), "utf8").trim());
    const {
      audience = "rollcall",
      tenants = ["wrong"],
      scope = "registry:read registry:publish",
      expires = 600,
    } = claims;
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ tenants, scope })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setSubject("someone")
      .setIssuer("rollcall")
      .setAudience(audience)
      .setIssuedAt(now + Math.min(0, expires - 60))
      .setExpirationTime(now + expires)
      .sign(secret);
  }

  const expectMistake = ({ code, stdout, stderr }: Outcome, exitCode: number, ...sentences: (string | RegExp)[]) => {
    for (const sentence of sentences) expect(stderr).toMatch(sentence);
    expect(code).toBe(exitCode);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^(?:! .*\n)*✗ /);
    expect(stderr).toContain("→ ");
    expect(stderr).not.toContain("    at ");
  };

  describe("a mistake on the command line", () => {
    it.concurrent.each<[string, string[], RegExp[]]>([
      ["an unknown command", ["pubish"], [/Unknown command 'pubish'/, /Did you mean publish\?/]],
      ["an unknown flag", ["search", "x", "--buget", "3"], [/Unknown option '--buget'/, /Did you mean --budget\?/]],
      ["a missing argument", ["show"], [/Missing required argument 'T\/NAME/]],
      ["a name that is none", ["show", "weather"], [/"weather" is not the name of a server/, /acme\/weather/]],
      ["a number that is none", ["search", "x", "--budget", "many"], [/--budget many is not a whole number/, /→/]],
      ["a kind that is none", ["search", "x", "--kind", "gadget"], [/--kind gadget is none of: tool, prompt/]],
      ["a file that is not there", ["publish", "wrong/s", "nope.json"], [/The file nope.json does not exist/]],
      ["a folder", ["publish", "wrong/s", "."], [/\. is a folder/]],
      ["nothing to publish", ["publish", "wrong/s"], [/There is nothing to publish/, /-- node server\.js/]],
      ["an unknown profile", ["whoami", "--profile", "nope"], [/no profile "nope"/, /rollcall login/]],
      ["a method that is none", ["api", "FETCH", "/api/whoami"], [/FETCH is none of/]],
      ["no lock file", ["verify"], [/There is no rollcall.lock.json/, /rollcall pin/]],
      ["serving from the tarball", ["serve"], [/works in a clone/, /npm run rollcall -- serve/]],
      ["a token from the tarball", ["token", "--data", "x", "--tenant", "wrong"], [/works in a clone/]],
      ["a question without a terminal", ["login", "http://127.0.0.1:1"], [/no terminal/, /--token-stdin/]],
      ["a deletion without a terminal", ["server", "delete", "wrong/s"], [/no terminal/, /--yes/]],
      ["a hook without its secret", ["publish", "wrong/s", "good.json", "--hook"], [/ROLLCALL_HOOK_URL/, /hooks add/]],
    ])("%s", async (_name, args, sentences) => {
      expectMistake(await rollcall(args), 2, ...sentences);
    });

    it.concurrent.each<[string, unknown, RegExp]>([
      [
        "openapi.json",
        { openapi: "3.1.0", paths: {} },
        /looks like an OpenAPI document[\s\S]*rollcall import openapi openapi.json wrong\/s/,
      ],
      ["package.json", { name: "x", dependencies: {} }, /looks like a package.json/],
      ["list.json", [], /looks like a list/],
      ["client.json", { mcpServers: {} }, /looks like a client's configuration/],
      ["answer.json", { jsonrpc: "2.0", id: 1, result: { tools: [] } }, /looks like an MCP answer[\s\S]*import mcp/],
      ["page.json", "<!doctype html><p>", /is not JSON[\s\S]*looks like a web page/],
    ])("%s is no manifest, and says what it looks like", async (file, content, sentence) => {
      writeFileSync(join(home, file), typeof content === "string" ? content : JSON.stringify(content));
      expectMistake(await rollcall(["publish", "wrong/s", file]), 2, sentence);
    });

    it("is JSON on stderr with --json, and nothing on stdout", async () => {
      const { code, stdout, stderr } = await rollcall(["show", "wrong/nothing-here", "--json"]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "ErrorMCPServerNotFound", message: /no server/ } });
    });
  });

  describe("a command that is no MCP server", () => {
    const node = oldestNode();
    const publish = (script: string, ...flags: string[]) =>
      rollcall(["publish", "wrong/none", ...flags, "--", node, "-e", script]);

    it("does not exist", async () => {
      expectMistake(
        await rollcall(["publish", "wrong/none", "--", "no-such-command-here"]),
        2,
        /"no-such-command-here" does not exist/,
      );
    });

    it("ends: its exit code and last lines are told", async () => {
      expectMistake(
        await publish('console.error("no API key\\u001b[2J"); process.exit(7)'),
        1,
        /ended with exit code 7/,
        /no API key\\u001b/,
      );
    });

    it("hangs, and is ended", async () => {
      const file = join(home, "hanging.pid");
      const script = `require("fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)`;
      expectMistake(await publish(script, "--timeout", "1"), 5, /did not answer .* within 1 s/);
      expect(() => process.kill(Number(readFileSync(file, "utf8")), 0)).toThrow("ESRCH");
    });

    it("prints junk", async () => {
      expectMistake(
        await publish('console.log("Server is running!"); setInterval(() => {}, 1000)', "--timeout", "1"),
        1,
        /writes to stdout what is not MCP/,
        /Server is running!/,
      );
    });

    it("left nothing behind", async () => {
      expect((await rollcall(["show", "wrong/none"])).code).toBe(1);
    });
  });

  describe("a token that the registry refuses", () => {
    it.concurrent.each<[string, () => Promise<string>, RegExp[]]>([
      ["is not one", async () => "hello", [/The token is not one/]],
      ["has ended", () => signed({ expires: -7_200 }), [/The token ended 2 h ago, at \d{4}-/, /rollcall login/]],
      ["is for another audience", () => signed({ audience: "elsewhere" }), [/for audience "elsewhere"/]],
      ["lacks the tenant", () => signed({ tenants: ["others"] }), [/permission/, /rollcall whoami/]],
      ["lacks the scope", () => signed({ scope: "registry:read" }), [/scope|permission/i]],
    ])("%s", async (_name, make, sentences) => {
      expectMistake(
        await rollcall(["publish", "wrong/s", "good.json"], { ROLLCALL_TOKEN: await make() }),
        4,
        ...sentences,
      );
    });

    it("is missing", async () => {
      expectMistake(
        await rollcall(["publish", "wrong/s", "good.json"], { ROLLCALL_TOKEN: "" }),
        4,
        /This needs a token/,
        /rollcall login/,
      );
      const { code, stdout } = await rollcall(["whoami"], { ROLLCALL_TOKEN: "" });
      expect([code, stdout]).toEqual([0, expect.stringContaining("anonymous: public servers only")]);
    });

    it("is not stored by a login that fails, nor where the folder cannot be written", async () => {
      const folder = { XDG_CONFIG_HOME: join(home, "config"), ROLLCALL_TOKEN: "" };
      const login = ["login", shared.registry.url, "--token-stdin"];
      expectMistake(await rollcall(login, folder, await signed({ audience: "elsewhere" })), 4, /for audience/);
      expect(existsSync(join(home, "config"))).toBe(false);
      expectMistake(
        await rollcall(login, { ...folder, XDG_CONFIG_HOME: join(home, "good.json") }, token),
        2,
        /cannot be stored/,
        /ROLLCALL_TOKEN/,
      );
    });

    it("is stored for its owner alone, and a looser mode is told", async () => {
      const folder = { XDG_CONFIG_HOME: join(home, "own"), ROLLCALL_TOKEN: "", ROLLCALL_URL: "" };
      expect((await rollcall(["login", shared.registry.url, "--token-stdin"], folder, token)).code).toBe(0);
      const file = join(home, "own/rollcall/credentials.json");
      expect(statSync(file).mode & 0o777).toBe(0o600);
      chmodSync(file, 0o644);
      expect((await rollcall(["whoami"], folder)).stderr).toContain(`chmod 600 ${file}`);
      // Another registry does not get it.
      const { stdout } = await rollcall(
        ["whoami", "--url", shared.registry.url.replace("127.0.0.1", "[::1]")],
        folder,
      ).catch(() => ({ stdout: "" }));
      expect(stdout).not.toContain("wrong");
      expect((await rollcall(["logout"], folder)).stdout).toContain("Signed out: default");
      expect((await rollcall(["whoami"], folder)).stdout).toContain("anonymous");
    });
  });

  describe("a registry that cannot be asked", () => {
    it("is not there", async () => {
      expectMistake(
        await rollcall(["list"], { ROLLCALL_URL: "http://127.0.0.1:9" }),
        5,
        /cannot be reached/,
        /rollcall doctor/,
      );
    });

    it("is something else", async () => {
      const url = await answering((_request, response) => response.end("<h1>It works!</h1>"));
      expectMistake(await rollcall(["list"], { ROLLCALL_URL: url }), 1, /is not a registry/);
      const moved = await answering((_request, response) =>
        response.writeHead(302, { Location: "https://elsewhere.test/" }).end(),
      );
      expectMistake(
        await rollcall(["list"], { ROLLCALL_URL: moved }),
        1,
        /sends requests on to https:\/\/elsewhere.test/,
      );
    });

    it("is busy, or broken", async () => {
      let asked = 0;
      const busy = await answering((_request, response) => {
        asked += 1;
        response
          .writeHead(429, { "Retry-After": "0", "Content-Type": "application/json" })
          .end('{"error":{"code":"ErrorTooManyRequests","message":"Too many requests"}}');
      });
      expectMistake(await rollcall(["list"], { ROLLCALL_URL: busy }), 5, /Too many requests/);
      expect(asked).toBe(3);
      const broken = await answering((_request, response) => response.writeHead(500).end());
      expectMistake(await rollcall(["list"], { ROLLCALL_URL: broken }), 5, /HTTP 500/);
    });

    it("does not get a token over plain http", async () => {
      expectMistake(await rollcall(["list"], { ROLLCALL_URL: "http://registry.acme.test" }), 4, /not https/);
    });

    it("has another time: doctor says by how much", async () => {
      const url = await answering(async (request, response) => {
        const { method = "GET", url: path, headers } = request;
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const { host: _host, connection: _connection, "content-length": _length, ...kept } = headers;
        const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
        const sent = { method, headers: kept as Record<string, string>, body };
        const answer = await fetch(`${shared.registry.url}${path}`, sent);
        response.writeHead(answer.status, {
          "Content-Type": "application/json",
          Date: new Date(Date.now() - 3_600_000).toUTCString(),
        });
        response.end(await answer.text());
      });
      const { code, stdout } = await rollcall(["doctor"], { ROLLCALL_URL: url });
      expect(stdout).toMatch(/✗ clock +this machine is 60 min ahead of the registry/);
      expect(code).toBe(3);
    });
  });

  describe("a lock file", () => {
    const lock = (members: object) => {
      const folder = mkdtempSync(join(home, "lock-"));
      writeFileSync(
        join(folder, "rollcall.lock.json"),
        typeof members === "string" ? members : JSON.stringify(members),
      );
      return folder;
    };
    const verify = (members: object | string, args: string[] = []) =>
      run(shared.installed, ["verify", ...args], { env, cwd: lock(members as object) });

    it("of another registry, of a newer version, or damaged is not used", async () => {
      const other = { lockfileVersion: 1, registry: "https://other.test", servers: {} };
      expectMistake(await verify(other), 2, /of another registry: https:\/\/other.test/);
      expectMistake(await verify({ ...other, lockfileVersion: 2 }), 2, /has version 2/, /Update rollcall/);
      expectMistake(await verify("{"), 2, /not JSON/);
      expectMistake(await verify("<<<<<<< HEAD\n{}"), 2, /merge conflict/);
      expectMistake(await verify({ ...other, servers: { "a/b": {} } }), 2, /servers\["a\/b"\] has no capabilities/);
    });

    it("of a registry that does not answer is exit 5, or a warning", async () => {
      const gone = {
        lockfileVersion: 1,
        registry: "http://127.0.0.1:9",
        servers: { "a/b": { partial: true, tokens: 0, capabilities: {} } },
      };
      const away = { ROLLCALL_URL: "" };
      const folder = lock(gone);
      expectMistake(
        await run(shared.installed, ["verify"], { env: { ...env, ...away }, cwd: folder }),
        5,
        /cannot be reached/,
      );
      const passed = await run(shared.installed, ["verify", "--offline-ok"], { env: { ...env, ...away }, cwd: folder });
      expect([passed.code, passed.stderr]).toEqual([0, expect.stringContaining("Not verified")]);
    });
  });

  describe("a publish", () => {
    it("that removes over half, is not over the named revision, or is refused changes nothing", async () => {
      expect((await rollcall(["publish", "wrong/half", "good.json"])).code).toBe(0);
      expectMistake(await rollcall(["publish", "wrong/half", "one.json"]), 2, /removes 2 of 3 items/, /--yes/);
      expectMistake(
        await rollcall(["publish", "wrong/half", "one.json", "--yes", "--if-match", `sha256-${"0".repeat(64)}`]),
        1,
        /changed since/,
      );
      writeFileSync(
        join(home, "bad.json"),
        JSON.stringify({ tools: [{ name: "no spaces please", inputSchema: { type: "object" } }] }),
      );
      expectMistake(
        await rollcall(["publish", "wrong/half", "bad.json"]),
        1,
        /nothing was published/,
        /\/tools\/0/,
        /--partial/,
      );
      const { stdout } = await rollcall(["history", "wrong/half", "--json"]);
      expect(JSON.parse(stdout).items).toHaveLength(1);
    });

    it("is undone by restoring, and diff --exit-code tells", async () => {
      expect((await rollcall(["publish", "wrong/half", "one.json", "--yes"])).code).toBe(0);
      const compared = await rollcall(["diff", "wrong/half", "--exit-code"]);
      expect([compared.code, compared.stdout]).toEqual([3, expect.stringContaining("− removed  tool wrong_b")]);
      expect((await rollcall(["restore-revision", "wrong/half", "1", "--yes"])).stdout).toContain(
        "Restored: wrong/half",
      );
      expectMistake(await rollcall(["diff", "wrong/half", "ffff"]), 1, /has no revision "ffff"/);
    });
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));
}
