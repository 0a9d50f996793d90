import { beforeAll, describe, expect, it } from "vitest";
import { importBounds } from "../../../src/kernel/bounds.ts";
import { capabilities, config, configs } from "../support/registry.ts";
import { bounds, issues, nested, type Sender, sender } from "../support/sender.ts";

describe("size", () => {
  let large: Sender;
  beforeAll(async () => {
    large = await sender("large");
  });

  const settings = (bytes: number, name: string) => {
    const text = JSON.stringify({ tenant: "large", name, "x-fill": "" });
    return text.replace('"x-fill":""', `"x-fill":"${"x".repeat(bytes - text.length)}"`);
  };

  it("of a config may be 256 kB and no more", async () => {
    expect(bounds.configBytes).toBe(256 * 1024);
    expect((await large.send("POST", configs, settings(bounds.configBytes, "fits"))).status).toBe(201);
    const over = await large.send("POST", configs, settings(bounds.configBytes + 1, "over"));
    expect([over.status, over.body.error]).toMatchObject([
      413,
      { code: "ErrorTooLarge", details: { limit: bounds.configBytes } },
    ]);
    expect((await large.send("GET", config("large", "over"))).status).toBe(404);
  });

  it("of a set of switches is bound like a config's", async () => {
    const { status } = await large.send(
      "PATCH",
      capabilities("large", "fits"),
      `{"items":[]${" ".repeat(bounds.configBytes)}}`,
    );
    expect(status).toBe(413);
  });

  it("of a capability may be 512 kB and no more", async () => {
    const tool = (name: string, bytes: number) => {
      const rest = JSON.stringify({ name, "x-fill": "" }).length;
      return { name, "x-fill": "word ".repeat(bytes).slice(0, bytes - rest) };
    };
    const fits = tool("large_fits", bounds.capabilityBytes);
    expect((await large.publish("capability", { tools: [fits] })).status).toBe(201);
    const body = { tools: [{ name: "large_small" }, tool("large_over", bounds.capabilityBytes + 1)] };
    const whole = await large.publish("over", body);
    expect([whole.status, issues(whole)]).toEqual([422, [["/tools/1", "size"]]]);
    const partial = await large.publish("over", body, "?partial=true");
    expect([partial.status, partial.body.data.rejected]).toMatchObject([
      201,
      [{ path: "/tools/1", name: "large_over" }],
    ]);
  });

  it("of a capability is counted in bytes, not in characters", async () => {
    const { status } = await large.publish("bytes", {
      tools: [{ name: "large_bytes", "x-fill": "é".repeat(300_000) }],
    });
    expect(status).toBe(422);
  });

  it("of a manifest may be 8 MiB and no more", async () => {
    const before = await large.state();
    expect(bounds.manifestBytes).toBe(8 * 1024 * 1024);
    const over = await large.publish("manifest", `{}${" ".repeat(bounds.manifestBytes)}`);
    expect([over.status, over.body.error.code]).toEqual([413, "ErrorTooLarge"]);
    expect(await large.state()).toEqual(before);
  });

  it("of a manifest's own fields may be 256 kB", async () => {
    const over = await large.publish("header", { tools: [], "x-fill": "x".repeat(bounds.configBytes) });
    expect([over.status, issues(over)]).toEqual([422, [["", "size"]]]);
  });

  it("of a manifest in YAML may be 512 kB", async () => {
    const yaml = (bytes: number) => "tools: []\n".padEnd(bytes, "# fill\n");
    const headers = { "Content-Type": "application/yaml" };
    expect((await large.publish("yaml", yaml(importBounds.yamlBytes), "", headers)).status).toBe(201);
    const over = await large.publish("yaml", yaml(importBounds.yamlBytes + 1), "", headers);
    expect([over.status, over.body.error.details.limit]).toEqual([413, 512 * 1024]);
  });

  it("in aliases of YAML may be 1,000 and no more", async () => {
    const yaml = (aliases: number) => `tools: []\na: &a 1\nb:\n${"- *a\n".repeat(aliases)}`;
    const headers = { "Content-Type": "application/yaml" };
    expect((await large.publish("aliases", yaml(importBounds.yamlAliases), "", headers)).status).toBe(201);
    const before = await large.state();
    const over = await large.publish("aliases", yaml(importBounds.yamlAliases + 1), "", headers);
    expect([over.status, over.body.error]).toMatchObject([
      422,
      {
        message: "the YAML has more than 1000 aliases (yamlAliases: 1000) at line 1004, column 3",
        details: { bound: { name: "yamlAliases", limit: 1_000, found: 1_001 }, line: 1_004, column: 3 },
      },
    ]);
    expect(await large.state()).toEqual(before);
  });

  it.each([
    ["GraphQL", "graphql", "application/graphql", "type Query { a: Int }", importBounds.sdlBytes],
    ["RTFS", "rtfs", "application/rtfs", '(capability "large.a")', importBounds.rtfsBytes],
  ])("of %s may be 4 MiB and no more", async (_, format, type, text, limit) => {
    const path = `/api/import/${format}?tenant=large&name=${format}`;
    const headers = { "Content-Type": type };
    expect((await large.send("POST", path, text.padEnd(limit), headers)).status).toBe(201);
    const before = await large.state();
    const over = await large.send("POST", path, text.padEnd(limit + 1), headers);
    expect([over.status, over.body.error]).toMatchObject([413, { code: "ErrorTooLarge", details: { limit } }]);
    expect(await large.state()).toEqual(before);
  });

  it("of a JSON document to import may be 16 MiB and no more", async () => {
    expect(bounds.importBytes).toBe(16 * 1024 * 1024);
    const text = JSON.stringify({ tools: [{ name: "large_imported" }] });
    const send = (bytes: number) => {
      const headers = { "Content-Type": "application/json" };
      return large.send("POST", "/api/import/mcp?tenant=large&name=mcp", text.padEnd(bytes), headers);
    };
    expect((await send(bounds.importBytes)).status).toBe(201);
    expect((await send(bounds.importBytes + 1)).status).toBe(413);
  });

  it("that Content-Length says to be too much is refused before anything is read", async () => {
    let pulled = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(1024));
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { "Content-Type": "application/json", "Content-Length": String(bounds.configBytes + 1) };
    expect((await large.send("POST", configs, body, headers)).status).toBe(413);
    expect([pulled, isCancelled]).toEqual([0, true]);
  });

  it("of a capability's schemas may be 20,000 values and no more", async () => {
    // The schema, its enum, and the values in it.
    const tool = (nodes: number) => ({ name: "large_nodes", inputSchema: { enum: Array(nodes - 2).fill(1) } });
    expect((await large.publish("nodes", { tools: [tool(importBounds.schemaNodes)] })).status).toBe(201);
    const before = await large.state();
    const over = await large.publish("nodes", { tools: [tool(importBounds.schemaNodes + 1)] });
    expect([over.status, issues(over)]).toEqual([422, [["/tools/0", "schemaNodes"]]]);
    expect(over.body.error.message).toContain("20001 values, more than 20000 (schemaNodes)");
    expect(await large.state()).toEqual(before);
  });

  it("is not taken from Content-Length, and reading stops at the bound", async () => {
    let sent = 0;
    const long = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = new Uint8Array(64 * 1024).fill(0x20);
        sent += chunk.byteLength;
        controller.enqueue(chunk);
        if (sent > 64 * bounds.configBytes) controller.close();
      },
    });
    const { status } = await large.send("POST", configs, long, { "Content-Type": "application/json" });
    expect(status).toBe(413);
    expect(sent).toBeLessThan(2 * bounds.configBytes);
  });

  it("in items may be 10,000 and no more", async () => {
    const items = (count: number) => ({
      tools: Array.from({ length: count }, (_, index) => ({ name: `large_${index}` })),
    });
    const over = await large.publish("items", items(bounds.capabilities + 1));
    expect([over.status, over.body.error]).toMatchObject([
      422,
      {
        message: expect.stringContaining("this one has 10001, and /tools/10000 is one too many"),
        details: { bound: { name: "capabilities", limit: 10_000, found: 10_001 }, path: "/tools/10000" },
      },
    ]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a description", { tools: [{ name: "t", description: "x".repeat(65_537) }] }, "/tools/0/description"],
    ["a name", { tools: [{ name: "t".repeat(129) }] }, "/tools/0/name"],
    ["a version", { tools: [], version: "1".repeat(256) }, "/version"],
    ["a URI", { resources: [{ uri: `x:${"y".repeat(2_048)}` }] }, "/resources/0/uri"],
    ["an id", { tools: [{ name: "t", id: "i".repeat(513) }] }, "/tools/0/id"],
  ])("of %s has a bound", async (_, manifest, path) => {
    const answer = await large.publish("field", manifest);
    expect([answer.status, issues(answer)]).toEqual([422, [[path, expect.any(String)]]]);
  });

  it("of the answer is bounded too, however much is wrong", async () => {
    const tool = { name: "large_bad", "x-bad": Array(100).fill("\u200b") };
    const body = { tools: Array.from({ length: 3_000 }, (_, index) => ({ ...tool, name: `large_bad_${index}` })) };
    const whole = await large.publish("wrong", body);
    expect([whole.status, whole.body.error.details.issues.length]).toEqual([422, 100]);
    const partial = await large.publish("wrong", body, "?partial=true");
    expect(partial.status).toBeLessThan(500);
    expect(partial.text.length).toBeLessThan(bounds.manifestBytes);
  });
});

describe("the answer to a hostile document", () => {
  it("is bounded when every fault lies deep below long keys", async () => {
    const far = await sender("far");
    const below = Array.from({ length: 60 }, (_, level) => `${level}`.padEnd(126, "k"));
    const buried = below.reduceRight<unknown>((inner, key) => ({ [key]: inner }), Array(10).fill("\u200b"));
    const body = { tools: Array.from({ length: 600 }, (_, index) => ({ name: `far_${index}`, "x-deep": buried })) };
    const { status, text } = await far.publish("s", body, "?partial=true");
    expect(status).toBeLessThan(500);
    expect(text.length).toBeLessThan(bounds.manifestBytes);
  });
});

describe("depth", () => {
  let deep: Sender;
  beforeAll(async () => {
    deep = await sender("deep");
  });

  it("may be 64", async () => {
    expect(bounds.depth).toBe(64);
    expect((await deep.publish("s", `{"tools":[],"a":${nested(63)}}`)).status).toBe(201);
    expect((await deep.send("POST", configs, `{"tenant":"deep","name":"c","a":${nested(63)}}`)).status).toBe(201);
    const schema = `${'{"properties":{"a":'.repeat(30)}{}${"}}".repeat(30)}`;
    expect((await deep.publish("schema", `{"tools":[{"name":"deep_t","inputSchema":${schema}}]}`)).status).toBe(201);
  });

  it("may not be 65", async () => {
    const { status, body } = await deep.publish("s", `{"a":${nested(64)}}`);
    expect([status, body.error.code]).toEqual([400, "ErrorInvalidBody"]);
    expect(body.error.message).toContain("64");
    expect(body.error.details.path).toBe(`/a${"/0".repeat(63)}`);
    expect((await deep.send("POST", configs, `{"tenant":"deep","name":"d","a":${nested(64)}}`)).status).toBe(400);
    expect((await deep.publish("s", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).status).toBe(400);
  });

  it.each([
    ["lists", nested(1_000_000)],
    ["lists that do not end", "[".repeat(1_000_000)],
    ["objects", `${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}`],
  ])("of a million %s is refused at once", async (_, text) => {
    const start = performance.now();
    expect((await deep.publish("s", text)).status).toBe(400);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
