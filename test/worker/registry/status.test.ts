import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { genesisOf, verifyChain } from "../../../src/registry/change-chain.ts";
import { type Member, member, paths, registry } from "../support/member.ts";
import { capabilities, config, configs, token, tools } from "../support/registry.ts";
import { serveUpstreams } from "../support/upstreams.ts";

let mine: Member;
let tenant: string;
let round = 0;

beforeEach(async () => {
  tenant = `status-${++round}`;
  mine = await member(tenant);
  await mine.post({ name: "s", visibility: "public" });
  await mine.publish("s", { version: "1.0.0", ...tools("a", "b") });
});

afterEach(() => void vi.restoreAllMocks());

const patch = (body: Record<string, unknown>) => mine.send("PATCH", config(tenant, "s"), body);
const put = (body: Record<string, unknown>) => mine.put({ name: "s", ...body });
const withdrawn = { status: "withdrawn", statusMessage: "use newsrv" };
const digest = async () => (await mine.capabilities("s")).body.data.digest;
const changes = async () => (await mine.send("GET", `/api/changes/${tenant}?limit=1000`)).body.data;
const newest = async () => (await changes()).items.at(-1);

describe("a withdrawn server", () => {
  it("is read as before, by members and by everyone else who could", async () => {
    const before = await mine.capabilities("s");
    const changed = await patch(withdrawn);
    expect([changed.status, changed.body.data.changed.sort()]).toEqual([200, ["status", "statusMessage"]]);
    expect(changed.body.data).toMatchObject(withdrawn);
    expect(changed.body.data).not.toHaveProperty("effectiveBy");
    const stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
    const {
      registry: { digest: was },
      tools: items,
    } = before.body.data;
    for (const as of [await token({ tenants: [tenant] }), stranger]) {
      const read = (path: string) => registry.send("GET", path, { token: as });
      const whole = await read(capabilities(tenant, "s"));
      expect([whole.status, whole.body.data.registry.digest, whole.body.data.registry.status]).toEqual([
        200,
        was,
        "withdrawn",
      ]);
      expect(whole.body.data.tools[0].registry).toMatchObject({
        status: "withdrawn",
        statusMessage: withdrawn.statusMessage,
      });
      expect(whole.body.data.tools.map(({ name }: { name: string }) => name)).toEqual(
        items.map(({ name }: { name: string }) => name),
      );
      for (const view of ["server", "tools", "resources", "generators"]) {
        expect((await read(`${capabilities(tenant, "s")}/${view}`)).status).toBe(200);
      }
      const settings = await read(config(tenant, "s"));
      expect([settings.status, settings.body.data.registry]).toEqual([200, expect.objectContaining(withdrawn)]);
      expect((await read(`/api/capabilities/${tenant}/mcp.s.a`)).status).toBe(200);
      const listed = await read(`/api/catalog?tenant=${tenant}`);
      expect(listed.body.data.items).toMatchObject([{ name: "s", status: "withdrawn" }]);
    }
    expect((await registry.send("GET", `/api/catalog?tenant=${tenant}`)).body.data.items).toHaveLength(1);
    expect((await mine.send("GET", `${capabilities(tenant, "s")}/revisions`)).body.data.items).toHaveLength(1);
  });

  it("takes what is published and stays withdrawn, and the answer says how to offer it again", async () => {
    await patch(withdrawn);
    const remedy = `${tenant}/s is withdrawn and stays withdrawn; PATCH /api/mcp/configs/${tenant}/s {"status": "active"} offers it again`;
    const next = { version: "2.0.0", ...tools("a", "c") };
    const dry = await mine.send("PUT", `${capabilities(tenant, "s")}?dryRun=true`, next);
    expect(dry.body.data.warnings).toEqual([remedy]);
    const answer = await mine.publish("s", next);
    expect([answer.status, answer.body.data.outcome, answer.body.data.warnings]).toEqual([200, "changed", [remedy]]);
    const again = await mine.publish("s", next);
    expect([again.body.data.outcome, again.body.data.warnings]).toEqual(["unchanged", [remedy]]);
    const shown = (await mine.capabilities("s")).body.data;
    expect([shown.registry.status, shown.registry.digest]).toEqual(["withdrawn", answer.body.data.digest]);
    expect((await mine.get("s")).body.data).toMatchObject(withdrawn);

    const revisions = (await mine.send("GET", `${capabilities(tenant, "s")}/revisions`)).body.data.items;
    const restore = `${capabilities(tenant, "s")}/revisions/${revisions.at(-1).digest}/restore`;
    expect((await mine.send("POST", restore)).body.data.warnings).toContain(remedy);
    const imported = await mine.send("POST", `/api/import/mcp?tenant=${tenant}&name=s`, tools("d"));
    expect(imported.body.data.warnings).toContain(remedy);
    expect((await mine.get("s")).body.data).toMatchObject(withdrawn);

    await patch({ status: "active" });
    expect((await mine.publish("s", next)).body.data.warnings).toEqual([]);
  });

  it("exists: its name is taken until it is deleted, and only then is it a 404", async () => {
    await patch(withdrawn);
    const taken = await mine.post({ name: "s" });
    expect([taken.status, taken.body.error.code]).toEqual([409, "ErrorMCPServerExists"]);
    expect(taken.body.error.details.hint).toContain(`PATCH /api/mcp/configs/${tenant}/s {"status": "active"}`);
    expect((await mine.remove("s")).status).toBe(200);
    for (const path of [capabilities(tenant, "s"), config(tenant, "s")]) {
      expect((await mine.send("GET", path)).status).toBe(404);
    }
    // What comes under its name later is another server.
    expect((await mine.publish("s", tools("z"))).status).toBe(201);
    const { data } = (await mine.get("s")).body;
    expect([data.status, data.statusMessage, data.visibility]).toEqual([undefined, undefined, "tenant"]);
  });

  it("does not have its sources read, and does once it is offered again", async () => {
    const offers = serveUpstreams();
    offers.set("a.example", { tools: [{ name: "first", inputSchema: { type: "object" } }] });
    const sources = [{ id: "main", type: "streamable-http", url: "https://a.example/mcp" }];
    const refresh = () => mine.send("POST", `${capabilities(tenant, "s")}/refresh`);
    await patch({ sources });
    await refresh();
    const names = async () => {
      const read = await mine.send("GET", capabilities(tenant, "s"), undefined, { "Cache-Control": "no-cache" });
      return read.body.data.tools.map(({ name }: { name: string }) => name);
    };
    await vi.waitFor(async () => expect(await names()).toContain("first"));
    await patch(withdrawn);
    offers.set("a.example", { tools: [{ name: "second", inputSchema: { type: "object" } }] });
    const refused = await refresh();
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining("s is withdrawn")]);
    expect(await names()).toContain("first");
    await patch({ status: "deprecated" });
    await vi.waitFor(async () => expect(await names()).toContain("second"));
  });
});

describe("the status of a server", () => {
  it.each([
    ["PATCH", patch],
    ["PUT", put],
  ])("changes by %s without its content, as one advisory change", async (_, change) => {
    const was = await digest();
    for (const [body, message] of [
      [{ status: "deprecated", statusMessage: "old" }, "status set to deprecated: old"],
      [{ statusMessage: "older" }, "status set to deprecated: older"],
      [withdrawn, "status set to withdrawn: use newsrv"],
      [{ status: "deprecated" }, "status set to deprecated: use newsrv"],
      [{ statusMessage: null }, "status set to deprecated"],
      [{ status: "active" }, "status set to active"],
    ] as const) {
      const before = await changes();
      const etag = (await mine.capabilities("s")).headers.get("ETag");
      expect((await change(body)).status).toBe(200);
      const { items, generation } = await changes();
      expect(items.length - before.items.length).toBe(1);
      expect([generation, items.at(-1)]).toEqual([
        before.generation + 1,
        expect.objectContaining({
          ...{ kind: "server", name: "s", classification: "advisory", breaking: false, generation },
          reasons: [{ path: "/status", classification: "advisory", message }],
        }),
      ]);
      expect(await digest()).toBe(was);
      expect((await mine.capabilities("s")).headers.get("ETag")).not.toBe(etag);
    }
    expect(verifyChain((await changes()).items, genesisOf(tenantKey(tenant))).ok).toBe(true);
  });

  it("is a second entry of the same write where other settings change too", async () => {
    const before = (await changes()).generation;
    await patch({ title: "T", ...withdrawn });
    const { items, generation } = await changes();
    expect(generation).toBe(before + 1);
    const last = items.slice(-2).map((one: Record<string, unknown>) => [one.generation, one.kind, one.classification]);
    expect(last).toEqual([
      [generation, "server", "cosmetic"],
      [generation, "server", "advisory"],
    ]);
    await patch({ visibility: "tenant", status: null });
    expect((await changes()).items.slice(-2)).toMatchObject([
      { classification: "breaking" },
      { classification: "advisory" },
    ]);
  });

  it("loses its message when it becomes active", async () => {
    for (const active of ["active", null]) {
      await patch(withdrawn);
      const { data } = (await patch({ status: active })).body;
      expect([data.changed.sort(), data.statusMessage]).toEqual([["status", "statusMessage"], undefined]);
      const shown = (await mine.get("s")).body.data;
      expect([shown.status, shown.statusMessage]).toEqual([undefined, undefined]);
    }
  });

  it("is active where absent: saying so changes nothing", async () => {
    const before = (await changes()).generation;
    expect((await patch({ status: "active" })).body.data.changed).toEqual([]);
    await mine.post({ name: "said", status: "active" });
    expect((await mine.send("PATCH", config(tenant, "said"), { status: null })).body.data.changed).toEqual([]);
    expect((await changes()).generation).toBe(before + 1);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a message alone", {}, { statusMessage: "why" }],
    ["a message with active", withdrawn, { status: "active", statusMessage: "why" }],
  ])("of an active server has no message: %s is a 422", async (_, first, body) => {
    await patch(first);
    const answer = await patch(body);
    expect([answer.status, paths(answer)]).toEqual([422, ["/statusMessage"]]);
    expect(answer.body.error.details.issues[0].message).toContain('"deprecated" or "withdrawn"');
    expect((await mine.get("s")).body.data.status).toBe(first.status);
    expect((await mine.post({ name: "n", ...body })).status).toBe(422);
  });

  it("may be set when a server is registered", async () => {
    expect((await mine.post({ name: "born", ...withdrawn })).status).toBe(201);
    expect((await mine.get("born")).body.data).toMatchObject(withdrawn);
    expect(await newest()).toMatchObject({ name: "born", classification: "additive" });
  });

  it("of another tenant's server is not for everyone to change", async () => {
    const other = await token({ sub: "other", tenants: ["elsewhere"] });
    expect((await registry.send("PATCH", config(tenant, "s"), { token: other, body: withdrawn })).status).toBe(403);
    const body = { tenant, name: "s", ...withdrawn };
    expect((await registry.send("PUT", configs, { token: other, body })).status).toBe(403);
  });

  it("with a long message is in the log in part", async () => {
    const long = "x".repeat(1_024);
    expect((await patch({ status: "deprecated", statusMessage: long })).body.data.statusMessage).toBe(long);
    expect((await newest()).reasons[0].message.length).toBeLessThan(256);
    expect((await patch({ statusMessage: `${long}x` })).status).toBe(422);
  });
});
