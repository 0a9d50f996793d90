import { describe, expect, it } from "vitest";
import { type DeployConfig, findings, type Secrets } from "../../../scripts/deploy/checks.ts";
import { readDeployConfig } from "../../../scripts/deploy/read-config.ts";

const secrets: Secrets = { known: ["JWT_SECRET"] };
const whole = await readDeployConfig(undefined);
const stops = (config: DeployConfig, given: Secrets = secrets) =>
  findings(config, given).flatMap(({ level, text }) => (level === "stop" ? [text] : []));

describe("wrangler.toml", () => {
  it.each([undefined, "staging"])("can be deployed as it is: %s", async (env) => {
    expect(findings(await readDeployConfig(env), secrets)).toEqual([
      { level: "note", text: expect.stringContaining("PUBLIC_URL is empty") },
    ]);
  });

  it("does not accept staging's tokens in production", async () => {
    const { vars } = await readDeployConfig("staging");
    expect(vars["JWT_ISSUER"]).not.toBe(whole.vars["JWT_ISSUER"]);
    expect(vars["JWT_AUDIENCE"]).not.toBe(whole.vars["JWT_AUDIENCE"]);
  });

  it("has no other environment", async () => {
    await expect(readDeployConfig("stagin")).rejects.toThrow(
      "wrangler.toml has no environment stagin; did you mean staging?",
    );
  });
});

describe("a deployment that cannot work is stopped with what to do", () => {
  const vars = (changed: Record<string, string>) => ({ ...whole, vars: { ...whole.vars, ...changed } });

  it.each<[string, DeployConfig, string]>([
    ["no namespace", { ...whole, kv: [] }, "Add it below [[kv_namespaces]]."],
    [
      "no namespace in an environment",
      { ...whole, env: "staging", kv: [] },
      "Add it below [[env.staging.kv_namespaces]]. An environment inherits no bindings.",
    ],
    ["no object", { ...whole, objects: { ...whole.objects, STREAMS: undefined as never } }, "The object STREAMS is"],
    ["no migration", { ...whole, migrated: whole.migrated.slice(1) }, "No migration creates TenantObject."],
    ["no assets", { ...whole, assets: undefined }, "The assets have no binding."],
    ["an open door to its own zone", { ...whole, flags: ["enable_request_signal"] }, "lacks global_fetch_strictly"],
    ["PUBLIC_URL with a path", vars({ PUBLIC_URL: "https://a.example/x" }), "PUBLIC_URL must be an origin"],
    ["PUBLIC_URL without https", vars({ PUBLIC_URL: "http://a.example" }), "PUBLIC_URL must be an https URL"],
    ["PUBLIC_URL of this machine", vars({ PUBLIC_URL: "http://localhost:8787" }), "which only this machine reaches"],
    [
      "PUBLIC_URL of another host",
      { ...vars({ PUBLIC_URL: "https://a.example" }), hosts: ["b.example"] },
      "PUBLIC_URL is https://a.example, but the routes are for b.example.",
    ],
    ["a setting that cannot be read", vars({ READ_LIMIT: "many" }), "READ_LIMIT must be"],
    ["a setting for development", vars({ ALLOW_LOOPBACK_FETCH: "true" }), "ALLOW_LOOPBACK_FETCH is true"],
    [
      "a secret that anyone can read",
      vars({ JWT_SECRET: "a secret of forty characters, or of more" }),
      "JWT_SECRET is a secret, but stands below [vars]",
    ],
    [
      "an entrypoint that there is not",
      { ...whole, entrypoints: ["default", "PublicAnswer"] },
      "[exports.PublicAnswer] names no entrypoint of src/index.ts; did you mean PublicAnswers?",
    ],
    ["a cache for everything", { ...whole, cached: ["default", "PublicAnswers"] }, "is on for `default`"],
    ["a limit that a publish exceeds", { ...whole, cpuMs: 10 }, "cpu_ms is 10."],
    ["a limit above the platform's", { ...whole, cpuMs: 400_000 }, "cpu_ms is 400000."],
  ])("%s", (_, config, message) => {
    expect(stops(config)).toEqual([expect.stringContaining(message)]);
  });

  it.each<[string, Record<string, string>, string[], string[]]>([
    ["no token key", {}, [], ["JWT_SECRET is missing: every request with a token would answer 503."]],
    ["an identity provider alone", { JWKS_URL: "https://id.example/keys" }, [], ["SIGNING_SECRET is missing"]],
    ["an identity provider and a key for cursors", { JWKS_URL: "https://id.example/keys" }, ["SIGNING_SECRET"], []],
  ])("%s", (_, changed, known, messages) => {
    expect(stops(vars(changed), { known })).toEqual(messages.map((text) => expect.stringContaining(text)));
  });

  it.each<[string, string[], boolean]>([
    ["https://registry.a.example", ["*.a.example"], true],
    ["https://a.example", ["*.a.example"], false],
    ["https://rollcall.me.workers.dev", ["b.example"], true],
  ])("PUBLIC_URL %s with routes for %j", (publicUrl, hosts, agrees) => {
    expect(stops({ ...vars({ PUBLIC_URL: publicUrl }), hosts }).length).toBe(agrees ? 0 : 1);
  });

  it("a secret that is given and too short", () => {
    const given = { JWT_SECRET: "short" };
    expect(stops(whole, { ...secrets, given })).toEqual([
      "JWT_SECRET must be at least 32 bytes. Correct it in the secrets file.",
    ]);
    const misspelt = { JWT_SECRETS: "a secret of forty characters, or of more" };
    expect(findings(whole, { ...secrets, given: misspelt }).map(({ text }) => text)).toContain(
      "JWT_SECRETS of the secrets file is no secret of the registry; did you mean JWT_SECRET?",
    );
  });

  it("notes a setting that the registry does not know", () => {
    const notes = findings(vars({ READ_LIMITS: "1/1" }), secrets).map(({ text }) => text);
    expect(notes).toContain("READ_LIMITS below [vars] is no setting of the registry; did you mean READ_LIMIT?");
  });

  it("names the environment in the command that sets a secret", () => {
    expect(stops({ ...whole, env: "staging" }, { known: [] })[0]).toContain(
      "npx wrangler secret put JWT_SECRET --env staging",
    );
  });

  it("notes a deployment without the platform's cache", () => {
    const notes = findings({ ...whole, cached: [] }, secrets).map(({ text }) => text);
    expect(notes).toContainEqual(expect.stringContaining("The platform's cache is off for PublicAnswers"));
  });

  it("secrets that could not be listed", () => {
    expect(stops(whole, { unknown: { level: "stop", text: "Log in" } })).toEqual(["Log in"]);
  });
});
