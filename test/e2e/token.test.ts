import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli, start, startCli, stopAll } from "./support/process.ts";

let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "rollcall-token-"));
});

afterAll(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

describe("npm run token", () => {
  it("prints a token and nothing else", async () => {
    const { exitCode, stdout } = await token("--tenant", "acme");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(decodeProtectedHeader(stdout.trim()).alg).toBe("HS256");
    const { iat = 0, exp = 0, ...claims } = decodeJwt(stdout.trim());
    expect(exp - iat).toBe(3600);
    expect(claims).toEqual({
      iss: "rollcall",
      aud: "rollcall",
      sub: "developer",
      tenants: ["acme"],
      scope: "registry:read registry:publish",
    });
  });

  it("takes tenants, scope, subject, lifetime and admin from the command line", async () => {
    const asked = ["--tenant", "acme", "--tenant", "io.github.acme", "--scope", "registry:read", "--sub", "ci"];
    const { stdout } = await token(...asked, "--ttl", "86400", "--admin");
    const { iat = 0, exp = 0, ...claims } = decodeJwt(stdout.trim());
    expect(exp - iat).toBe(86_400);
    expect(claims).toMatchObject({
      sub: "ci",
      tenants: ["acme", "io.github.acme"],
      scope: "registry:read",
      admin: true,
    });
  });

  it("takes a tenant in any case, once", async () => {
    const { stdout } = await token("--tenant", "Demo", "--tenant", "io.github.ChromeDevTools", "--tenant", "DEMO");
    expect(decodeJwt(stdout.trim())["tenants"]).toEqual(["DEMO", "io.github.ChromeDevTools"]);
  });

  it("makes the secret of a new data directory, for its owner alone, and nothing else; and says so", async () => {
    const data = join(scratch, "new");
    const { stderr } = await runCli("token.ts", "--data", data, "--tenant", "acme");
    expect(stderr).toContain(`Made a new secret in ${data}`);
    expect(stderr).toContain(`No server has used ${data}; a server started with --data ${data} will accept this token`);
    expect((await stat(join(data, "secret"))).mode & 0o777).toBe(0o600);
    expect(await readdir(data)).toEqual(["secret"]);
  });

  it.each([
    ["90", 90],
    ["15m", 900],
    ["1h", 3_600],
    ["1d", 86_400],
  ])("takes --ttl %s", async (ttl, seconds) => {
    const { iat = 0, exp = 0 } = decodeJwt((await token("--tenant", "acme", "--ttl", ttl)).stdout.trim());
    expect(exp - iat).toBe(seconds);
  });

  it("says so when npm took an option for its own", async () => {
    const npm = await start("npm", ["run", "--silent", "token", "--tenant", "demo"]).finished;
    expect(npm.exitCode).toBe(2);
    expect(npm.stderr).toContain("npm takes options before `--` for itself: npm run token -- --option value.");
  });

  it.runIf(process.platform === "linux")("refuses a data directory that cannot be made, at once", async () => {
    const { exitCode, stderr } = await runCli("token.ts", "--data", "/proc/x/y", "--tenant", "acme");
    expect(exitCode).toBe(1);
    expect(stderr).toBe("The data directory /proc/x/y cannot be used (ENOENT). Choose another with --data DIR.\n");
  });

  it.each([
    [
      ["--tenant", "acme", "--ttl", "86401"],
      '--ttl must be from 1 to 86400 seconds, written as 90, 15m, 1h or 1d, not "86401".',
    ],
    [["--tenant", "acme", "--ttl", "soon"], "--ttl must be"],
    [["--tenant", "a_b"], '--tenant "a_b" must be'],
    [["--tenant", "acme", "--ttl", "25h"], "--ttl must be"],
    [["--tenant", "acme", "--scope", " "], "--scope must not be empty."],
    [["--tenant", "acme", "--scope", "registry:reed"], "Unknown scope registry:reed; did you mean registry:read?"],
    [["--tenant", "acme", "--scope", "all"], "Unknown scope all; Known: registry:read, registry:publish."],
    [["--tennant", "acme"], "Unknown option --tennant; did you mean --tenant?"],
    [["--tenant"], "--tenant needs a value."],
    [["demo"], 'Unexpected argument "demo".'],
    [[], "--tenant is needed"],
  ])("refuses %j", async (args, message) => {
    const { exitCode, stdout, stderr } = await token(...args);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
  });

  it("is accepted by the server on its data directory, and by no other", async () => {
    const data = join(scratch, "served");
    const server = startCli("serve.ts", "--port", "0", "--data", data, "--no-demo");
    const [, url = ""] = await server.line(/ready (\S+)/);
    const own = await runCli("token.ts", "--data", data, "--tenant", "acme");
    const other = await token("--tenant", "acme");
    expect(await statusWith(url, own.stdout)).toBe(200);
    expect(await statusWith(url, other.stdout)).toBe(401);
    server.signal("SIGINT");
    await server.finished;
  });
});

function token(...args: string[]) {
  return runCli("token.ts", "--data", join(scratch, "data"), ...args);
}

async function statusWith(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api/mcp/configs`, { headers: { Authorization: `Bearer ${token.trim()}` } });
  await response.body?.cancel();
  return response.status;
}
