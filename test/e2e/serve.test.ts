import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command, type Running, runCli, start, startCli, stopAll } from "./support/process.ts";

const demoServers = [
  ...["almanac", "calendar", "compose", "files", "issues", "library", "mail"],
  ...["petstore", "shop", "store", "suspicious", "weather"],
];

let scratch: string;
let directories = 0;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "rollcall-serve-"));
});

afterAll(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

describe("npm run serve", () => {
  it("prints one line, answers, and ends with 0 at Ctrl-C", async () => {
    const { server, url } = await serve(newDir(), "--no-demo");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    server.signal("SIGINT");
    const { exitCode, stdout } = await server.finished;
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`ready ${url}\n`);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it("lets the sender of a body that it refuses read why, also while most of it is still to be sent", async () => {
    const data = newDir();
    const token = await mint(data);
    const { server, url } = await serve(data, "--no-demo");
    const put = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const options = { method: "PUT", headers: { "Content-Type": "application/json", ...headers } };
        const sent = request(`${url}/api/mcp/capabilities/demo/large`, options, (answer) => {
          answer.resume().on("end", () => resolve(answer.statusCode));
        });
        sent.on("error", reject).end(Buffer.alloc(9_000_000, " "));
      });
    expect(await put({ Authorization: `Bearer ${token}` })).toBe(413);
    expect(await put({ Authorization: `Bearer ${token}`, "Transfer-Encoding": "chunked" })).toBe(413);
    expect(await put({})).toBe(401);
    server.signal("SIGINT");
    await server.finished;
  });

  it("says at start that the shell allows few open files, and how many sessions they are enough for", async () => {
    const args = ["--port", "0", "--data", newDir(), "--no-demo"];
    const server = start("sh", ["-c", 'ulimit -n 800 && exec "$@"', "sh", ...command("serve.ts", ...args)]);
    await server.line(/ready (http:\S+)/);
    expect(server.stderr()).toContain("This shell allows 800 open files, enough for about 100 sessions");
    server.signal("SIGINT");
    expect((await server.finished).exitCode).toBe(0);
  });

  it("says at start that the data is a newer version's, and leaves no temporary directory behind", async () => {
    const [data, temporary] = [newDir(), newDir()];
    for (const directory of [data, temporary]) await mkdir(directory, { recursive: true });
    await writeFile(join(data, "format"), "1000\n");
    const server = start("env", [
      `TMPDIR=${temporary}`,
      ...command("serve.ts", "--port", "0", "--data", data, "--no-demo"),
    ]);
    await server.line(/ready (http:\S+)/);
    expect(server.stderr()).toMatch(
      /was written by a newer version of Rollcall \(format 1000; this version knows \d+\)/,
    );
    expect(await readFile(join(data, "format"), "utf8")).toBe("1000\n");
    server.signal("SIGTERM");
    expect((await server.finished).exitCode).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
  });

  it("ends with 0 at SIGTERM, at SIGHUP, and when a terminal sends Ctrl-C to every process of the group", async () => {
    const data = newDir();
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const { server } = await serve(data, "--no-demo");
      server.signal(signal);
      expect((await server.finished).exitCode).toBe(0);
    }
    const second = await serve(data, "--no-demo");
    second.server.signalGroup("SIGINT");
    expect((await second.server.finished).exitCode).toBe(0);
  });

  it("ends when the npm that started it does", async () => {
    const npm = start("npm", ["run", "--silent", "serve", "--", "--port", "0", "--data", newDir(), "--no-demo"]);
    const [, url = ""] = await npm.line(/ready (\S+)/);
    npm.signal("SIGTERM");
    // The server shares npm's stdout, so this waits for both.
    await npm.finished;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it("keeps its data private, and the Cache API out of it", async () => {
    const data = newDir();
    const { server } = await serve(data, "--no-demo");
    expect(await mode(data)).toBe(0o700);
    expect(await mode(join(data, "secret"))).toBe(0o600);
    server.signal("SIGINT");
    await server.finished;
    expect((await readdir(data)).sort()).toEqual(["format", "kv", "lock", "objects", "secret"]);
  });

  it("loads the demo catalogue once, and finds everything again after a restart", async () => {
    const data = newDir();
    const token = await mint(data);
    const first = await serve(data);
    // Loading says nothing: whoever reads the log did not write this.
    expect(first.server.stderr()).toBe("");
    expect(await serverNames(first.url, token)).toEqual(demoServers);

    const deleted = await call(first.url, token, "DELETE", "/api/mcp/configs/demo/shop");
    expect(deleted.status).toBe(200);
    const published = await call(first.url, token, "PUT", "/api/mcp/capabilities/demo/hello", {
      tools: [{ name: "say_hello", inputSchema: { type: "object" } }],
    });
    expect(published.status).toBe(201);
    first.server.signal("SIGINT");
    await first.server.finished;

    const second = await serve(data);
    expect(await serverNames(second.url, token)).toEqual(
      [...demoServers.filter((name) => name !== "shop"), "hello"].sort(),
    );
    const { body } = await call(second.url, token, "GET", "/api/mcp/capabilities/demo/hello");
    expect(body.data.registry?.digest).toBe(published.body.data.digest);
    second.server.signal("SIGINT");
    await second.server.finished;
  });

  it("passes --var on to the Worker", async () => {
    const data = newDir();
    const token = await mint(data);
    const { server, url } = await serve(data, "--no-demo", "--var", "JWT_AUDIENCE=elsewhere");
    expect((await call(url, token, "GET", "/api/mcp/configs")).status).toBe(401);
    server.signal("SIGINT");
    await server.finished;
  });

  it.runIf(process.platform === "linux")("says so when the runtime ended and was started again", async () => {
    const { server, url } = await serve(newDir(), "--no-demo");
    const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, "utf8");
    const pids = children.trim().split(" ");
    const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, "utf8")));
    process.kill(Number(pids[commands.indexOf("workerd\n")]), "SIGKILL");
    await expect
      .poll(() => server.stderr(), { timeout: 60_000 })
      .toContain("The runtime ended (SIGKILL) and was started again\n");
    const status = () =>
      fetch(`${url}/healthz`).then(
        (response) => response.status,
        () => undefined,
      );
    await expect.poll(status, { timeout: 60_000 }).toBe(200);
    server.signal("SIGINT");
    expect((await server.finished).exitCode).toBe(0);
  });

  it("frees port and data directory even when killed outright", async () => {
    const data = newDir();
    const killed = await serve(data, "--no-demo");
    const { port } = new URL(killed.url);
    killed.server.signal("SIGKILL");
    await killed.server.finished;
    const next = startCli("serve.ts", "--port", port, "--data", data, "--no-demo");
    await next.line(/ready/);
    next.signal("SIGINT");
    expect((await next.finished).exitCode).toBe(0);
  });
});

describe("npm run serve refuses, in a sentence,", () => {
  let data: string;
  let server: Running;
  let url: string;

  beforeAll(async () => {
    data = newDir();
    ({ server, url } = await serve(data, "--no-demo"));
  });

  afterAll(async () => {
    server.signal("SIGINT");
    await server.finished;
  });

  it("a port in use, naming it and the way out", async () => {
    const { port } = new URL(url);
    const never = newDir();
    const { exitCode, stdout, stderr } = await runCli("serve.ts", "--port", port, "--data", never);
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    await expect(stat(never)).rejects.toThrow("ENOENT");
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is already in use. Choose another with --port P, or any free one with --port 0.\n`,
    );
  });

  it("a setting that cannot be read, by name alone", async () => {
    const { exitCode, stderr } = await runCli("serve.ts", "--port", "0", "--data", newDir(), "--var", "READ_LIMIT=abc");
    expect(exitCode).toBe(1);
    expect(stderr.split("\n").filter((line) => !line.startsWith("{"))).toEqual([
      'READ_LIMIT must be "rate/burst", such as 100/1000.',
      "",
    ]);
  });

  it("a data directory in use, naming the server that has it", async () => {
    const { exitCode, stdout, stderr } = await runCli("serve.ts", "--port", "0", "--data", data);
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain(`${data} is in use by the server at ${url}`);
    expect(stderr).toContain("--data DIR");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it.each([
    [["--port", "many"], '--port must be a number from 0 to 65535, not "many".'],
    [["--var", "READ_LIMIT"], '--var takes NAME=VALUE, not "READ_LIMIT".'],
    [["--unheard-of"], "Unknown option --unheard-of."],
    [["--prt", "1"], "Unknown option --prt; did you mean --port?"],
    [["--var", "RED_LIMIT=1/1"], "Unknown setting RED_LIMIT; did you mean READ_LIMIT?"],
    [["--var", "JWT_SECRET=x"], "JWT_SECRET is kept in the data directory"],
  ])("%j", async (args, message) => {
    const { exitCode, stderr } = await runCli("serve.ts", ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain("Usage: npm run serve");
  });
});

/** A data directory that does not exist yet. */
function newDir(): string {
  directories += 1;
  return join(scratch, `data-${directories}`);
}

async function serve(data: string, ...args: string[]): Promise<{ server: Running; url: string }> {
  const server = startCli("serve.ts", "--port", "0", "--data", data, ...args);
  const [, url = ""] = await server.line(/ready (http:\/\/127\.0\.0\.1:\d+)/);
  return { server, url };
}

async function mint(data: string): Promise<string> {
  const { stdout } = await runCli("token.ts", "--data", data, "--tenant", "demo");
  return stdout.trim();
}

interface Answer {
  data: { digest?: string; items?: { name: string }[]; registry?: { digest: string } };
}

async function call(url: string, token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

async function serverNames(url: string, token: string): Promise<string[] | undefined> {
  const { body } = await call(url, token, "GET", "/api/mcp/configs");
  return body.data.items?.map(({ name }) => name).sort();
}

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}
