import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { type Answer, capabilities, configs, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
let round = 0;
let tenant = "";
let bearer = "";

beforeEach(async () => {
  tenant = `once-${++round}`;
  bearer = await token({ sub: `${tenant}-ci`, tenants: [tenant] });
  expect((await put("a")).status).toBe(201);
  await put("b");
});

const put = (...names: string[]) =>
  registry.send("PUT", capabilities(tenant, "s"), { token: bearer, body: tools(...names) });

type Send = (key: string, more?: object, as?: string) => Promise<Answer>;
const posting =
  (path: () => string, body: () => object | undefined): Send =>
  (key, more, as = bearer) => {
    const sent = more === undefined ? body() : { ...body(), ...more };
    return registry.send("POST", path(), { token: as, headers: { "Idempotency-Key": key }, body: sent });
  };

const hook = posting(
  () => "/api/hooks",
  () => ({ tenant, server: "s" }),
);
const subscription = posting(
  () => "/api/subscriptions",
  () => ({ tenant, url: "https://receiver.example/in" }),
);
const server = posting(
  () => configs,
  () => ({ tenant, name: "made", title: "Made" }),
);

const count = async (table: string) =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), (_, { storage }) =>
    Number(storage.sql.exec(`SELECT count(*) AS count FROM ${table}`).one()["count"]),
  );

const asAnswered = ({ status, body }: Answer) => ({ status, data: body.data });

describe.each<[string, Send, string]>([
  ["a hook", hook, "hook"],
  ["a subscription", subscription, "subscription"],
  ["a config", server, "server"],
])("the same key and request: %s", (_, send, table) => {
  it("answers the first answer, secret included, and has one effect", async () => {
    const before = await count(table);
    const first = await send("k1");
    expect(first.status).toBe(201);
    for (let repeat = 0; repeat < 3; repeat += 1) expect(asAnswered(await send("k1"))).toEqual(asAnswered(first));
    expect(await count(table)).toBe(before + 1);
  });

  it("at the same time has one effect, and one answer", async () => {
    const before = await count(table);
    const answers = await Promise.all(Array.from({ length: 8 }, () => send("k1")));
    expect(new Set(answers.map((answer) => JSON.stringify(asAnswered(answer)))).size).toBe(1);
    expect(await count(table)).toBe(before + 1);
  });

  it("with another body is refused, and has no effect", async () => {
    await send("k1");
    const before = await count(table);
    const answer = await send("k1", { description: "Another." });
    expect([answer.status, answer.body.error.code]).toEqual([422, "ErrorIdempotencyKeyReused"]);
    expect(await count(table)).toBe(before);
  });
});

it.each([
  ["hooks", hook],
  ["subscriptions", subscription],
  ["configs", server],
  [
    "restore",
    (key: string) =>
      registry.send("POST", `${capabilities(tenant, "s")}/revisions/sha256-${"0".repeat(64)}/restore`, {
        token: bearer,
        headers: { "Idempotency-Key": key },
      }),
  ],
] as [string, Send][])("is 1 to 200 visible characters: %s", async (_, send) => {
  for (const key of ["with space", "k".repeat(201)]) {
    const answer = await send(key);
    expect([answer.status, answer.body.error.code]).toEqual([400, "ErrorBadRequest"]);
  }
  expect((await send("k".repeat(200))).status).not.toBe(400);
});

it("belongs to its subject: another one's request has an effect of its own", async () => {
  const other = await token({ sub: `${tenant}-other`, tenants: [tenant] });
  const [mine, theirs] = [await hook("k1"), await hook("k1", undefined, other)];
  expect(theirs.status).toBe(201);
  expect(theirs.body.data.id).not.toBe(mine.body.data.id);
  expect(theirs.body.data.secret).not.toBe(mine.body.data.secret);
});

it("belongs to its tenant", async () => {
  const both = await token({ sub: "both", tenants: [tenant, `${tenant}-too`] });
  await registry.send("PUT", capabilities(`${tenant}-too`, "s"), { token: both, body: tools("a") });
  const mine = await hook("k1", undefined, both);
  const theirs = await hook("k1", { tenant: `${tenant}-too` }, both);
  expect([mine.status, theirs.status]).toEqual([201, 201]);
});

it("covers the operation: a key of a hook is not one of a subscription", async () => {
  await hook("k1");
  const answer = await subscription("k1");
  expect([answer.status, answer.body.error.code]).toEqual([422, "ErrorIdempotencyKeyReused"]);
});

it("keeps no failure: the request may be mended and sent again", async () => {
  expect((await hook("k1", { server: "nowhere" })).status).toBe(404);
  expect((await hook("k1")).status).toBe(201);
});

it("is forgotten after a day", async () => {
  const first = await hook("k1");
  await runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), (_, { storage }) =>
    storage.sql.exec("UPDATE idempotency SET at = at - 86400000"),
  );
  const second = await hook("k1");
  expect([second.status, second.body.data.id === first.body.data.id]).toEqual([201, false]);
});

it("makes a revision current once: what was published since stays", async () => {
  const page = await registry.send("GET", `${capabilities(tenant, "s")}/revisions`, { token: bearer });
  const digest = page.body.data.items.at(-1).digest as string;
  const path = `${capabilities(tenant, "s")}/revisions/${digest}/restore`;
  const restore = () => registry.send("POST", path, { token: bearer, headers: { "Idempotency-Key": "k1" } });
  const first = await restore();
  expect([first.status, first.body.data.digest]).toEqual([200, digest]);
  await put("c");
  const again = await restore();
  expect([again.status, again.body.data.digest, again.body.data.generation]).toEqual([
    200,
    digest,
    first.body.data.generation,
  ]);
  const { tools: shown } = (
    await registry.send("GET", capabilities(tenant, "s"), { token: bearer, headers: { "Cache-Control": "no-cache" } })
  ).body.data;
  expect(shown.map(({ name }: { name: string }) => name)).toEqual(["c"]);
});

it("rotates a secret once, and shows it again", async () => {
  const made = { hooks: await hook("h"), subscriptions: await subscription("s") };
  for (const [kind, { body }] of Object.entries(made)) {
    const path = `/api/${kind}/${tenant}/${body.data.id}/rotate`;
    const rotate = (key: string, sent: object = { overlapSeconds: 60 }) =>
      registry.send("POST", path, { token: bearer, headers: { "Idempotency-Key": key }, body: sent });
    const first = await rotate("k1");
    expect([kind, first.status]).toEqual([kind, 200]);
    expect(asAnswered(await rotate("k1"))).toEqual(asAnswered(first));
    expect((await rotate("k1", { overlapSeconds: 61 })).body.error.code).toBe("ErrorIdempotencyKeyReused");
    expect((await rotate("k2")).body.data.secret).not.toBe(first.body.data.secret);
    await runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), (_, { storage }) =>
      storage.sql.exec("DELETE FROM idempotency"),
    );
  }
});

it.each([
  ["empty", ""],
  ["long", "k".repeat(201)],
  ["a space", "a b"],
  ["beyond ASCII", "kéy"],
])("is refused: %s", async (_, key) => {
  const answer = await hook(key);
  expect([answer.status, answer.body.error.code]).toEqual([400, "ErrorBadRequest"]);
  expect(answer.body.error.message).toContain("Idempotency-Key");
});
