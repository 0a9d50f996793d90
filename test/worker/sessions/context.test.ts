import { beforeAll, describe, expect, it } from "vitest";
import type { FollowedItems } from "../../../src/changes/contract.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { EventReader } from "../support/event-reader.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, config, configs, Registry, token } from "../support/registry.ts";

const registry = new Registry();

const tool = (name: string, description: string, more: Record<string, unknown> = {}) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { place: { type: "string" } } },
  ...more,
});

const weather = {
  version: "1.4.0",
  tools: [
    tool("get_forecast", "The weather forecast for a place, hour by hour."),
    tool("get_alerts", "Weather warnings in force for a place."),
    tool("list_stations", "Weather stations near a place."),
  ],
};
const mail = {
  version: "2.0.0",
  tools: [tool("send_mail", "Sends an e-mail to somebody."), tool("read_inbox", "Lists new e-mail.")],
};

async function publish(tenant: string, name: string, manifest: unknown, visibility?: "public") {
  const bearer = await token({ sub: tenant, tenants: [tenant] });
  const put = await registry.send("PUT", capabilities(tenant, name), { token: bearer, body: manifest });
  expect(put.status).toBeLessThan(300);
  if (visibility !== undefined) {
    const body = { tenant, name, visibility };
    expect((await registry.send("PUT", configs, { token: bearer, body })).status).toBe(200);
  }
  return put;
}

/** What a negotiation with this wish answers about the context. */
async function choose(wish: Record<string, unknown>, claims?: Parameters<typeof token>[0]) {
  const request = {
    ...client("sampling", "notifications", "dev.rollcall/context"),
    extensions: { "dev.rollcall/context": wish },
  };
  const bearer = claims && (await token(claims));
  const { id, answer } = await negotiate(registry, request, bearer);
  expect(answer.status).toBe(200);
  return { id, bearer, context: answer.body.extensions["dev.rollcall/context"] };
}

// biome-ignore lint/suspicious/noExplicitAny: items of an answer
const names = (context: any) => context.items.map(({ name }: { name: string }) => name);

const insider = { sub: "reader", tenants: ["sky"] };

beforeAll(async () => {
  await publish("sky", "weather", weather);
  await publish("sky", "open", { tools: [tool("moon_phase", "The phase of the moon on a date.")] }, "public");
  await publish("post", "mail", mail, "public");
  await publish("vault", "secrets", { tools: [tool("open_vault", "Opens the vault for the weather forecast.")] });
});

describe("a budgeted negotiation", () => {
  it("takes other spellings of task and budget, and prints none of them", async () => {
    const asked = await choose({ budget: 300, task: "weather and e-mail" }, insider);
    for (const spelling of ["q", "query"]) {
      const { context } = await choose({ token_budget: 300, [spelling]: "weather and e-mail" }, insider);
      expect(context).toEqual(asked.context);
      expect(JSON.stringify(context)).not.toContain("token_budget");
    }
  });

  it("chooses by the task, within the budget, and says what each costs and why", async () => {
    const { context } = await choose({ budget: 10_000, task: "weather forecast for tomorrow" }, insider);
    expect(names(context)[0]).toBe("get_forecast");
    const spent = context.items.reduce((sum: number, { tokens }: { tokens: number }) => sum + tokens, 0);
    expect(context).toMatchObject({ budget: 10_000, used_tokens: spent, satisfied: true, changed: [] });
    expect(context.items[0]).toMatchObject({
      tenant: "sky",
      server: "weather",
      kind: "tool",
      id: expect.any(String),
      digest: expect.stringMatching(/^sha256-/),
      tokens: expect.any(Number),
      version: "1.4.0",
      why: "task",
      rank: 1,
    });
  });

  it("never spends more than the budget and names what that left out", async () => {
    const all = (await choose({ budget: 10_000, task: "weather" }, insider)).context;
    const { context } = await choose({ budget: all.used_tokens - 1, task: "weather" }, insider);
    expect(context.used_tokens).toBeLessThan(all.used_tokens);
    expect(context.left_out).toEqual([
      expect.objectContaining({ reason: "over-budget", tokens: expect.any(Number), why: "task" }),
    ]);
    const none = (await choose({ budget: 0, task: "weather" }, insider)).context;
    expect(none).toMatchObject({ items: [], used_tokens: 0 });
  });

  it("without a token sees what is public and nothing else", async () => {
    const { context } = await choose({ budget: 10_000 });
    expect(names(context).sort()).toEqual(["moon_phase", "read_inbox", "send_mail"]);
    const asked = (await choose({ budget: 10_000, task: "open the vault" })).context;
    expect(names(asked)).not.toContain("open_vault");
    expect(JSON.stringify(asked)).not.toContain("vault");
  });

  it("never offers another tenant's private capability, by search or by name", async () => {
    const owner = await registry.send("GET", capabilities("vault", "secrets"), {
      token: await token({ tenants: ["vault"] }),
    });
    const id = "mcp.secrets.open_vault";
    for (const must of [{ id }, { id, tenant: "vault" }]) {
      const { context } = await choose({ budget: 10_000, must_have: [must], tenants: ["vault"] }, insider);
      expect(context).toMatchObject({ satisfied: false, items: [], left_out: [{ id, reason: "not-found" }] });
    }
    expect(owner.status).toBe(200);
  });

  it("keeps to the kinds and tenants it is asked for", async () => {
    expect(names((await choose({ budget: 10_000, kinds: ["prompt"] }, insider)).context)).toEqual([]);
    const { context } = await choose({ budget: 10_000, tenants: ["post"] }, insider);
    expect(names(context).sort()).toEqual(["read_inbox", "send_mail"]);
  });

  it("takes must-haves first, at the versions asked for", async () => {
    const { context: all } = await choose({ budget: 10_000 }, insider);
    const find = (name: string) => all.items.find((item: { name: string }) => item.name === name);
    const { id, tokens } = find("list_stations");
    const wish = { budget: tokens, task: "forecast", must_have: [{ id, version: "^1.2.0" }] };
    const { context } = await choose(wish, insider);
    expect(context.items).toMatchObject([{ id, why: "must-have" }]);
    expect(context.satisfied).toBe(true);
    const { context: newer } = await choose({ ...wish, must_have: [{ id, version: ">=2" }] }, insider);
    expect(newer).toMatchObject({ satisfied: false });
    expect(newer.left_out).toContainEqual({
      id,
      tenant: "sky",
      tokens,
      why: "must-have",
      reason: "version",
      message: "Its version is 1.4.0, not in >=2",
    });
  });

  it("is within what the parameters settle", async () => {
    const request = {
      ...client("dev.rollcall/context"),
      capability_details: {
        c: {
          name: "dev.rollcall/context",
          version: "1.0.0",
          description: "",
          parameters: { max_items: 1, kinds: ["tool"] },
        },
      },
      extensions: { "dev.rollcall/context": { budget: 10_000, task: "weather" } },
    };
    const { answer } = await negotiate(registry, request, await token(insider));
    const context = answer.body.extensions["dev.rollcall/context"];
    expect(context.items).toHaveLength(1);
    expect(context.left_out[0]).toMatchObject({ reason: "too-many-items" });
  });

  it("leaves out what has a name too long to keep", async () => {
    const resources = [{ uri: `file:///${"ü".repeat(1_500)}`, name: "long" }];
    await publish("long", "s", { resources });
    const { context } = await choose({ budget: 1e9, tenants: ["long"] }, { sub: "long", tenants: ["long"] });
    expect(context).toMatchObject({ items: [], left_out: [{ reason: "name-too-long" }] });
  });

  it("is the same each time", async () => {
    const wish = { budget: 300, task: "weather and e-mail" };
    expect((await choose(wish, insider)).context).toEqual((await choose(wish, insider)).context);
  });
});

describe("pins", () => {
  it("that hold are taken; those that do not are reported with what changed, and left out", async () => {
    const before = { version: "1.0.0", tools: [tool("stable", "Stays."), tool("moving", "Moves.")] };
    await publish("pins", "s", before);
    const { context } = await choose({ budget: 10_000 }, { sub: "pins", tenants: ["pins"] });
    const pins = context.items
      .filter(({ tenant }: { tenant: string }) => tenant === "pins")
      .map(({ id, tenant, digest }: Record<string, string>) => ({ id, tenant, digest }));
    expect(pins).toHaveLength(2);
    const breaking = tool("moving", "Moves.", {
      inputSchema: { type: "object", properties: { place: { type: "number" } } },
    });
    await publish("pins", "s", { version: "1.1.0", tools: [before.tools[0], breaking] });
    const wish = { budget: 10_000, pins, tenants: ["pins"] };
    const { context: after } = await choose(wish, { sub: "pins", tenants: ["pins"] });
    expect(after.items).toMatchObject([{ name: "stable", why: "pinned" }]);
    const moved = pins.find(({ id }: { id: string }) => id.endsWith("moving"));
    expect(after.changed).toEqual([
      {
        id: moved.id,
        tenant: "pins",
        from: moved.digest,
        to: expect.stringMatching(/^sha256-/),
        classification: "breaking",
        breaking: true,
        reasons: [expect.objectContaining({ path: "/inputSchema/properties/place/type" })],
      },
    ]);
    const unknown = { ...moved, digest: `sha256-${"0".repeat(64)}` };
    const { context: lost } = await choose({ ...wish, pins: [unknown] }, { sub: "pins", tenants: ["pins"] });
    expect(lost.changed).toMatchObject([{ id: moved.id, classification: "unknown" }]);
  });
});

describe("a tenant that the subject has lost", () => {
  const request = (task: string) => ({
    ...client("sampling", "notifications", "session_resume", "dev.rollcall/context"),
    extensions: { "dev.rollcall/context": { budget: 10_000, task } },
  });
  const bearer = (...tenants: string[]) => token({ sub: "mover", tenants });
  // biome-ignore lint/suspicious/noExplicitAny: a session as answered
  const seen = (session: any, items: any) => [
    items["dev.rollcall/context"].items.map(({ tenant }: { tenant: string }) => tenant),
    session.auth_context.tenants,
  ];

  it("is gone from the session, with all that was chosen from it, and is back with the tenant", async () => {
    const { id, answer } = await negotiate(registry, request("weather and e-mail"), await bearer("sky", "log"));
    const [tenants] = seen(answer.body.session, answer.body.extensions);
    expect(new Set(tenants)).toEqual(new Set(["sky", "post"]));
    const read = async (...held: string[]) => {
      const { body } = await registry.send("GET", "/mcp/session", { token: await bearer(...held), ...inSession(id) });
      return { body, seen: seen(body, body.extensions) };
    };
    const fewer = await read("log");
    // What anyone may choose stays.
    expect(fewer.seen).toEqual([["post", "post"], ["log"]]);
    expect(JSON.stringify(fewer.body)).not.toContain("sky");
    expect(JSON.stringify(fewer.body)).not.toContain("forecast");
    expect((await read("sky")).seen).toEqual([tenants, ["sky"]]);
    // A tenant that was not there at the negotiation is not added to its record.
    expect((await read("sky", "vault")).seen[1]).toEqual(["sky"]);
  });

  it("is gone from the session that is taken up again, its changes and its stream", async () => {
    const { answer } = await negotiate(registry, request("weather and e-mail"), await bearer("sky"));
    const resumed = await registry.send("POST", "/mcp/session/resume", {
      token: await bearer(),
      body: { resume_token: answer.body.session.resume_token },
    });
    expect(resumed.status).toBe(200);
    expect(seen(resumed.body.session, resumed.body.extensions)).toEqual([["post", "post"], []]);
    expect(resumed.text).not.toContain("forecast");
    const id = resumed.body.session.id;
    const now = { token: await bearer(), ...inSession(id) };
    await publish("sky", "weather", { ...weather, tools: [tool("get_forecast", "Another forecast for a place.")] });
    const changes = await registry.send("GET", "/mcp/session/changes", now);
    expect(changes.body.changes).toEqual([]);
    const events = new EventReader(await registry.fetch("GET", "/mcp/subscription/stream", now));
    await publish("post", "mail", { ...mail, tools: mail.tools.map((one) => ({ ...one, title: "Mail" })) });
    // What happened before the stream opened would come first.
    expect((await events.named("change")).data.tenant).toBe("post");
    await events.leave();
    await publish("sky", "weather", weather);
    await publish("post", "mail", mail);
  });
});

describe("pins of someone outside", () => {
  it("are compared without reasons, and not at all once the server is not public", async () => {
    const before = { tools: [tool("stall", "A stall.")] };
    await publish("bazaar", "s", before, "public");
    const { context } = await choose({ budget: 10_000, tenants: ["bazaar"] });
    const [{ id, digest }] = context.items;
    await publish("bazaar", "s", { tools: [tool("stall", "Another stall.")] });
    const wish = { budget: 10_000, pins: [{ id, tenant: "bazaar", digest }] };
    expect((await choose(wish)).context.changed).toMatchObject([{ classification: "cosmetic", reasons: [] }]);
    const owner = await token({ sub: "bazaar", tenants: ["bazaar"] });
    await registry.send("PUT", configs, { token: owner, body: { tenant: "bazaar", name: "s", visibility: "tenant" } });
    expect((await choose(wish)).context).toMatchObject({ changed: [], left_out: [{ id, reason: "not-found" }] });
  });
});

describe("changes of a session's subset", () => {
  it("are only those of what was chosen, in order, each time the same", async () => {
    const mine = { sub: "log", tenants: ["log"] };
    await publish("log", "s", { tools: [tool("one", "First."), tool("two", "Second thing.")] });
    const { id, bearer } = await choose({ budget: 10_000, task: "first", tenants: ["log"] }, mine);
    const changes = async (since = "") => {
      const path = `/mcp/session/changes${since && `?since=${since}`}`;
      const answer = await registry.send("GET", path, { token: bearer as string, ...inSession(id) });
      expect(answer.status).toBe(200);
      return answer.body;
    };
    expect(await changes()).toEqual({ changes: [], position: "log:1", more: false, complete: true });
    await publish("log", "s", { tools: [tool("one", "First."), tool("two", "Second thing, other words.")] });
    expect(await changes()).toEqual({ changes: [], position: "log:2", more: false, complete: true });
    await publish("log", "s", { tools: [tool("one", "First, other words."), tool("three", "Third.")] });
    const answer = await changes();
    expect(answer.changes).toMatchObject([
      { tenant: "log", server: "s", kind: "tool", name: "one", classification: "cosmetic", id: expect.any(String) },
    ]);
    await publish("log", "s", { tools: [tool("three", "Third.")] });
    expect((await changes()).changes.map((one: { classification: string }) => one.classification)).toEqual([
      "cosmetic",
      "removed",
    ]);
    const since = (await changes("log:3")).changes;
    expect(since.map((one: { classification: string }) => one.classification)).toEqual(["removed"]);
    const gone = await registry.send("DELETE", config("log", "s"), { token: bearer as string });
    expect(gone.status).toBe(200);
    expect((await changes()).changes.at(-1)).toMatchObject({ kind: "server", name: "s", classification: "removed" });
  });

  it("include the status of a server, with its message, for those outside as long as it is public", async () => {
    const owner = await token({ sub: "notice", tenants: ["notice"] });
    const change = (body: object) => registry.send("PATCH", config("notice", "s"), { token: owner, body });
    await publish("notice", "s", { tools: [tool("tell", "Tells things.")] }, "public");
    const { id } = await choose({ budget: 10_000, tenants: ["notice"] });
    const told = async () => (await registry.send("GET", "/mcp/session/changes", inSession(id))).body;
    await change({ title: "Not told of." });
    await change({ status: "deprecated", statusMessage: "Use other." });
    const first = await told();
    expect(first).toMatchObject({
      position: "notice:4",
      changes: [
        {
          ...{ kind: "server", name: "s", classification: "advisory", breaking: false },
          reasons: [{ path: "/status", message: "status set to deprecated: Use other." }],
        },
      ],
    });
    await change({ status: "withdrawn" });
    // Withdrawn is not hidden: what follows is still told of.
    await publish("notice", "s", { tools: [tool("tell", "Tells other things.")] });
    const classes = async () => (await told()).changes.map((one: { classification: string }) => one.classification);
    expect(await classes()).toEqual(["advisory", "advisory", "cosmetic"]);
    await change({ visibility: "tenant" });
    await change({ status: "active" });
    expect(await classes()).toEqual(["advisory", "advisory", "cosmetic", "breaking"]);
    await change({ visibility: "public" });
    await change({ status: "deprecated" });
    expect(await classes()).toEqual(["advisory", "advisory", "cosmetic", "breaking", "advisory"]);
  });

  describe("of a server that stops being public", () => {
    /** A public server, someone outside who chose from it, and what they are told from a position on. */
    async function outsider(tenant: string) {
      const owner = await token({ sub: tenant, tenants: [tenant] });
      const publishes = (words: string) => publish(tenant, "s", { tools: [tool("buy", words)] });
      const show = (visibility: string) =>
        registry.send("PUT", configs, { token: owner, body: { tenant, name: "s", visibility } });
      await publish(tenant, "s", { tools: [tool("buy", "Buys things.")] }, "public");
      const { id } = await choose({ budget: 10_000, tenants: [tenant] });
      const told = async (since = "") => {
        const path = `/mcp/session/changes${since && `?since=${since}`}`;
        const { body } = await registry.send("GET", path, inSession(id));
        const changes = body.changes.map((one: { kind: string; generation: number }) => [one.kind, one.generation]);
        return { changes, position: body.position as string, body };
      };
      return { publishes, show, told };
    }

    it("are told up to the loss, and nothing after it, from whatever position", async () => {
      const { publishes, show, told } = await outsider("shop");
      await publishes("In public.");
      await show("tenant");
      const atLoss = await told();
      expect(atLoss.changes).toEqual([
        ["tool", 3],
        ["server", 4],
      ]);
      expect(atLoss.position).toBe("shop:4");
      expect(atLoss.body.changes.every(({ reasons }: { reasons: unknown[] }) => reasons.length === 0)).toBe(true);
      await publishes("In private.");
      for (const since of ["", "shop:3", "shop:4", "shop:5", "shop:999999999"]) {
        const later = await told(since);
        expect(later.changes.every(([, generation]: [string, number]) => generation <= 4)).toBe(true);
        expect(later.position).toBe("shop:4");
      }
    });

    it("are told again once it is public again, but for what happened in between", async () => {
      const { publishes, show, told } = await outsider("fair");
      await show("tenant");
      await publishes("In private.");
      await show("public");
      expect((await told()).changes).toEqual([["server", 3]]);
      await publishes("In public again.");
      expect((await told()).changes).toEqual([
        ["server", 3],
        ["tool", 6],
      ]);
      expect((await told("fair:3")).changes).toEqual([["tool", 6]]);
      expect((await told("fair:4")).changes).toEqual([["tool", 6]]);
    });

    it("are not told to one who chose as a member and is none any more", async () => {
      await publish("club", "s", { tools: [tool("enter", "Enters.")] });
      const { id } = await choose({ budget: 10_000, tenants: ["club"] }, { sub: "ex", tenants: ["club"] });
      await publish("club", "s", { tools: [tool("enter", "Enters by the back door.")] });
      const read = async (tenants: string[]) =>
        registry.send("GET", "/mcp/session/changes", { token: await token({ sub: "ex", tenants }), ...inSession(id) });
      expect((await read(["club"])).body.changes).toHaveLength(1);
      expect((await read([])).body.changes).toEqual([]);
    });
  });

  it("are found among any number of changes to other items, and come in pages", async () => {
    const many = (words: string) => ({
      tools: [
        ...Array.from({ length: 1_100 }, (_, n) => tool(`filler_${n}`, words)),
        tool("needle", `Needle ${words}.`),
      ],
    });
    await publish("hay", "s", many("one"));
    const mine = { sub: "hay", tenants: ["hay"] };
    const { id, bearer } = await choose({ budget: 200, task: "needle", tenants: ["hay"] }, mine);
    await publish("hay", "s", many("two"));
    const { body } = await registry.send("GET", "/mcp/session/changes", { token: bearer as string, ...inSession(id) });
    expect(body.changes.map(({ name }: { name: string }) => name)).toContain("needle");
    expect(body).toMatchObject({ more: false, complete: true });
    const topic = {
      tenant: "hay",
      onlyPublic: false,
      servers: [
        {
          server: "s",
          since: 1,
          after: 0,
          wasPublic: false,
          items: many("").tools.map(({ name }) => ({ kind: "tool", key: name, id: name })),
        },
      ],
    };
    for (let n = 0; n < 2; n += 1) await publish("hay", "s", many(`${n}`));
    const first = await registry.services.tenant(tenantKey("hay")).changesOf(topic as FollowedItems);
    expect(first).toMatchObject({ upTo: 3, generation: 4 });
    expect(first.changes).toHaveLength(2_202);
  }, 60_000);

  it("need a subset", async () => {
    const { id } = await negotiate(registry);
    const answer = await registry.send("GET", "/mcp/session/changes", inSession(id));
    expect([answer.status, answer.body.code]).toEqual([409, "ErrorNoSubset"]);
  });
});
