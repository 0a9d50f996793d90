import { beforeAll, describe, expect, it } from "vitest";
import { type Hooked, hooked, published, registry, sendEvent } from "../support/hooking.ts";
import { type Answer, capabilities, config, configs, tools } from "../support/registry.ts";

const tenant = "door";
let hook: Hooked;
let sequence = 1;

const send = (method: string, path: string, body?: unknown) =>
  registry.send(method, path, { token: hook.bearer, ...(body === undefined ? {} : { body }) });
const path = capabilities(tenant, "s");
const read = async (url: string) => (await send("GET", url)).body;

const manifest = {
  version: "1",
  ...tools("door_a", "door_b"),
  prompts: [{ name: "door_p" }],
  generators: [{ type: "door-g", source: "builtin" }],
  resources: [{ uri: "door://r" }],
};

beforeAll(async () => {
  hook = await hooked(tenant, {}, manifest);
});

/** Everything that a write could move. */
async function state() {
  const log = await read(`/api/changes/${tenant}?limit=1000`);
  const { data } = await read(path);
  const revisions = await read(`${path}/revisions`);
  return { log, digest: data.registry.digest, generation: log.data.generation, revisions, data };
}

/** Documents in which nothing says what the server has, each with what its refusal says. */
const forms: [what: string, form: unknown | (() => Promise<unknown>), says: RegExp][] = [
  ...["tool", "Tools", "TOOLS", "toolz", "tols"].map((key): [string, unknown, RegExp] => [
    ...([`a section called ${key}`, { [key]: manifest.tools }, /did you mean tools\?/] as const),
  ]),
  ["a section called resourcetemplates", { resourcetemplates: [] }, /did you mean resourceTemplates\?/],
  ["a section called resource", { resource: [] }, /did you mean resources\?/],
  ["a section called prompt", { prompt: [] }, /did you mean prompts\?/],
  ["a section called generator", { generator: [] }, /did you mean generators\?/],
  ["a section called operation", { operation: [] }, /did you mean operations\?/],
  ["a misspelt section beside a right one", { ...manifest, tool: [] }, /\/tool is not a section/],
  ["a section called tool_list", { tool_list: manifest.tools }, /names none of tools/],
  ["a section called capabilities", { capabilities: manifest.tools }, /names none of tools/],
  ["sections of the publisher's own alone", { validators: [{ name: "v" }] }, /"tools": \[\] to remove/],
  ["nothing", {}, /names no section/],
  ["a version alone", { version: "2" }, /names no section/],
  ["a section that is null", { tools: null }, /\/tools is null/],
  ["a null section beside another", { ...manifest, prompts: null }, /\/prompts is null/],
  ["a section that is text", { tools: "x" }, /\/tools must be an array/],
  ["a section that is a map", { tools: { a: manifest.tools[0] } }, /not a map/],
  ["a list", manifest.tools, /a manifest is an object/],
  ["the answer with the capabilities", () => read(path), /looks like an answer of this API/],
  ["the tools view", () => read(`${path}/tools`), /looks like the tools view/],
  ["the server view", () => read(`${path}/server`), /looks like the server view/],
  ["the resources view", () => read(`${path}/resources`), /looks like the resources view/],
  ["the generators view", () => read(`${path}/generators`), /looks like the generators view/],
  ["the answer with the config", () => read(config(tenant, "s")), /config.*PATCH \/api\/mcp\/configs/],
  ["a config", async () => (await read(config(tenant, "s"))).data, /looks like a server's config/],
  [
    "the answer with a revision",
    async () => read(`${path}/revisions/${(await read(path)).data.registry.digest}`),
    /revision.*data\.manifest/,
  ],
  ["a JSON-RPC response", { jsonrpc: "2.0", id: 1, result: { tools: manifest.tools } }, /import\/mcp/],
  ["a manifest in a member", { manifest }, /send what is in its manifest/],
  ["a server.json", { name: "io.a/b", version: "1.0.0", packages: [{}] }, /v0\.1\/publish/],
  ["an OpenAPI document", { openapi: "3.1.0", info: { title: "t" }, paths: {} }, /import\/openapi/],
  ["one page of a list", { tools: manifest.tools, nextCursor: "p2" }, /more pages/],
];

/** Ways in for a manifest. */
const doors: Record<string, (form: unknown) => Promise<Answer>> = {
  PUT: (form) => send("PUT", path, form),
  "PUT ?partial": (form) => send("PUT", `${path}?partial=true`, form),
  "PUT ?dryRun": (form) => send("PUT", `${path}?dryRun=true`, form),
  "PUT ?include": (form) => send("PUT", `${path}?include=disabled`, form),
  hook: (form) => {
    sequence += 1;
    return sendEvent(hook, published(sequence, form));
  },
  "hook, dry": (form) => {
    sequence += 1;
    const event = published(sequence, form);
    return sendEvent(hook, { ...event, data: { ...event.data, dryRun: true } });
  },
};

describe.each(Object.entries(doors))("%s", (door, submit) => {
  it.each(forms)("refuses %s, says what it looks like and where, and changes nothing", async (_, form, says) => {
    const document = typeof form === "function" ? await form() : form;
    const before = await state();
    const { status, body } = await submit(document);
    expect([status, body.error.code]).toEqual([422, "ErrorMCPServerValidation"]);
    expect(body.error.message).toMatch(says);
    const [issue] = body.error.details.issues;
    expect(issue).toEqual({ path: expect.any(String), rule: expect.any(String), message: expect.any(String) });
    if (door.startsWith("hook")) expect(issue.path).toMatch(/^\/data\/manifest/);
    expect(await state()).toEqual(before);
  });
});

describe("an import", () => {
  const imports = ["mcp", "openapi", "graphql"].flatMap((format) => [`${format}?`, `${format}?dryRun=true&`]);
  // Read by an import for what they are.
  const legitimate = ["a JSON-RPC response", "a list", "a section that is a map"];

  it.each(imports)("of %s refuses the same documents, and changes nothing", async (format) => {
    for (const [what, form] of forms) {
      if (legitimate.includes(what)) continue;
      const document = typeof form === "function" ? await form() : form;
      const before = await state();
      const { status, body } = await send("POST", `/api/import/${format}tenant=${tenant}&name=s`, document);
      expect([400, 422], what).toContain(status);
      expect(body.error.message.length).toBeGreaterThan(10);
      expect(await state()).toEqual(before);
    }
  });
});

describe("what is refused whole though parts may be left out", () => {
  const bad = [{ name: "" }, {}, { name: "has space" }];
  it.each<[string, (name: string) => Promise<Answer>]>([
    ["PUT ?partial", (name) => send("PUT", `${capabilities(tenant, name)}?partial=true`, { tools: bad })],
    [
      "import",
      (name) => send("POST", `/api/import/mcp?tenant=${tenant}&name=${name}`, { tools: [{ name: "has space" }] }),
    ],
  ])("%s: a document of which every item is refused", async (_, submit) => {
    for (const name of ["s", "never-was"]) {
      const before = await state();
      const { status, body } = await submit(name);
      expect([status, body.error.message]).toEqual([422, expect.stringContaining("every item was refused")]);
      expect(body.error.details.issues.length).toBeGreaterThan(0);
      expect(await state()).toEqual(before);
      expect((await send("GET", capabilities(tenant, "never-was"))).status).toBe(404);
    }
  });

  it("PUT ?partial: a document of which every id is taken", async () => {
    await send("PUT", capabilities(tenant, "holder"), { tools: [{ name: "x", id: "door.taken" }] });
    const before = await state();
    const query = `${path}?partial=true`;
    for (const suffix of ["", "&dryRun=true"]) {
      const { status, body } = await send("PUT", query + suffix, { tools: [{ name: "y", id: "door.taken" }] });
      expect([status, body.error.details.issues]).toEqual([
        422,
        [{ path: "/tools/0", rule: "id-taken", message: "id door.taken is already used by tool x of holder" }],
      ]);
      expect(await state()).toEqual(before);
    }
  });
});

describe("what is taken at its word", () => {
  it("an explicit empty list, which the answer tells of", async () => {
    await send("PUT", capabilities(tenant, "emptied"), tools("door_e"));
    const { status, body } = await send("PUT", capabilities(tenant, "emptied"), { tools: [] });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ emptied: true, changes: { removed: 1, breaking: 1, additive: 0 } });
    expect(body.data.warnings).toEqual(["The server had 1 capability and has none now"]);
    expect(body.data.cost.after).toBe(0);
    expect(body.data.cost.before).toBeGreaterThan(0);
  });

  it("sections of the publisher's own, beside a known one or confirmed", async () => {
    const put = (query: string, body: unknown) => send("PUT", capabilities(tenant, "own") + query, body);
    expect((await put("", { validators: [1] })).status).toBe(422);
    expect((await put("?sections=validators", { validators: [1] })).status).toBe(201);
    // The server has it now.
    expect((await put("", { validators: [2] })).status).toBe(200);
    const beside = await put("", { tools: [], rules: [{ a: 1 }] });
    expect(beside.body.data.warnings).toEqual([expect.stringMatching(/^\/rules is not a section .*\?sections=rules/)]);
    expect((await put("", { tools: [], rules: [{ a: 2 }] })).body.data.warnings).toEqual([]);
    expect((await put("?sections=tool", { tool: [1], tools: [] })).status).toBe(200);
    await put("", tools("door_own"));
    const only = published(1_000, { validators: [1] });
    expect((await send("PUT", `${capabilities(tenant, "own")}?sections=validators`, { validators: [1] })).status).toBe(
      422,
    );
    const event = { ...only, data: { ...only.data, sections: ["validators"] } };
    const other = await hooked("door-own", {}, { tools: [] });
    expect((await sendEvent(other, only)).status).toBe(422);
    expect((await sendEvent(other, event)).body).toMatchObject({ outcome: "applied" });
  });

  it("the first publish to a server that was only registered", async () => {
    await send("POST", configs, { tenant, name: "registered" });
    const { status, body } = await send("PUT", capabilities(tenant, "registered"), tools("door_r"));
    expect([status, body.data.outcome]).toEqual([201, "created"]);
  });
});
