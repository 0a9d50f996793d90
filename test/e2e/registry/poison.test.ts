import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeFixture, readJson } from "../../support/fixtures.ts";
import { runCli, startCli, stopAll } from "../support/process.ts";

type Tool = Record<string, unknown> & { name: string };

interface Flag {
  rule: string;
  severity: "high" | "low";
}

/** A published attack, or a published tool that only looks like one, and what must become of it. */
interface Case {
  id: string;
  expect: "reject" | "flag" | "accept" | "reject-second" | "reject-or-bound" | "new-version+flag";
  tool: Tool | Tool[] | { v1: Tool; v2: Tool };
  servers?: string[];
}

describeFixture("poisoned manifests, published to a running registry", "security/poison-cases.json", (location) => {
  const cases = readJson(location) as Case[];
  const expecting = (...outcomes: Case["expect"][]) =>
    cases.filter(({ expect }) => outcomes.includes(expect)).map((one) => [one.id, one] as const);

  let scratch: string;
  let url: string;
  let token: string;
  let stop: () => Promise<unknown>;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "rollcall-poison-"));
    const server = startCli("serve.ts", "--port", "0", "--data", scratch, "--no-demo");
    [, url = ""] = await server.line(/ready (http:\/\/127\.0\.0\.1:\d+)/);
    stop = async () => {
      server.signal("SIGINT");
      await server.finished;
    };
    const scope = "registry:read registry:publish";
    token = (await runCli("token.ts", "--data", scratch, "--admin", "--scope", scope)).stdout.trim();
  });

  afterAll(async () => {
    await stop();
    await stopAll();
    await rm(scratch, { recursive: true, force: true });
  });

  async function call(method: string, path: string, body?: unknown) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as {
      data?: Record<string, unknown>;
      error?: { code: string; details?: { issues?: unknown[] } };
    };
    return { status: response.status, data: data ?? {}, error };
  }

  async function readFlags(path: string): Promise<Flag[]> {
    const { registry } = (await call("GET", path)).data as { registry: { flags: Flag[] } };
    return registry.flags;
  }

  /** A tenant for each case: the same tool in two servers is a flag of its own. */
  const pathOf = (id: string, server = "s") =>
    `/api/mcp/capabilities/case-${id.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}/${server}`;

  /** Publishes what the case holds, and answers with the last of it. */
  async function publish({ id, tool, servers }: Case) {
    const tools = (Array.isArray(tool) ? tool : [tool]) as Tool[];
    if (servers === undefined) return { path: pathOf(id), ...(await call("PUT", pathOf(id), { tools })) };
    let last = { path: "", ...(await call("GET", "/healthz")) };
    for (const [index, server] of servers.entries()) {
      const path = pathOf(id, server);
      last = { path, ...(await call("PUT", path, { tools: [tools[index]] })) };
    }
    return last;
  }

  it("are of every sort there is to tell apart", () => {
    const known = expecting("reject", "flag", "accept", "reject-second", "reject-or-bound", "new-version+flag");
    expect(known).toHaveLength(cases.length);
    expect(cases.length).toBeGreaterThan(50);
  });

  describe("are refused, and stored nowhere:", () => {
    it.each(expecting("reject", "reject-second"))("%s", async (_, one) => {
      const { status, error, path } = await publish(one);
      expect([status, error?.code]).toEqual([422, "ErrorMCPServerValidation"]);
      expect(error?.details?.issues?.length).toBeGreaterThan(0);
      expect((await call("GET", path)).status).toBe(404);
    });
  });

  /** What is flagged, and how severely. */
  const severities: Record<string, "high" | "low"> = {
    "inv-direct-poison": "high",
    "invisible-desc-zwj": "high",
    "case-twins": "low",
    "cross-server-collision": "high",
    shadowing: "high",
    chatml: "high",
    inst: "high",
    "data-uri": "low",
    "base64-blob": "high",
    "fsp-enum-default": "high",
    "annotation-lie": "low",
  };

  describe("are flagged to publisher and readers:", () => {
    it.each(expecting("flag"))("%s", async (_, one) => {
      const { status, data, path } = await publish(one);
      expect(status).toBe(201);
      const flags = data.flags as Flag[];
      expect(flags.some(({ severity }) => severity === "high") ? "high" : "low").toBe(severities[one.id]);
      const shown = await readFlags(path);
      expect(shown).toHaveLength(flags.length);
      expect(shown).toEqual(expect.arrayContaining(flags));
    });
  });

  describe("are published without a flag where they are innocent:", () => {
    it.each(expecting("accept"))("%s", async (_, one) => {
      const { status, data, path } = await publish(one);
      expect([status, data.flags]).toEqual([201, []]);
      expect(await readFlags(path)).toEqual([]);
    });
  });

  describe("are refused, or published in good time:", () => {
    it.each(expecting("reject-or-bound"))("%s", async (_, one) => {
      const start = performance.now();
      const { status } = await publish(one);
      expect([201, 422]).toContain(status);
      expect(performance.now() - start).toBeLessThan(5_000);
    });
  });

  describe("that change under the same version are a new digest, and flagged:", () => {
    it.each(expecting("new-version+flag"))("%s", async (_, { id, tool }) => {
      const { v1, v2 } = tool as { v1: Tool; v2: Tool };
      const first = await call("PUT", pathOf(id), { version: "1.0.0", tools: [v1] });
      const second = await call("PUT", pathOf(id), { version: "1.0.0", tools: [v2] });
      expect([first.status, second.status]).toEqual([201, 200]);
      expect(second.data.digest).not.toBe(first.data.digest);
      expect(second.data.flags).toContainEqual(expect.objectContaining({ rule: "same-version", severity: "low" }));
      expect(await readFlags(pathOf(id))).toContainEqual(
        expect.objectContaining({ rule: "same-version", severity: "low" }),
      );
      const { breaking, additive } = second.data.changes as Record<string, number>;
      expect((breaking ?? 0) + (additive ?? 0)).toBeGreaterThan(0);
    });
  });
});
