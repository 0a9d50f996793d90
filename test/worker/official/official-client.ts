import { expect } from "vitest";
import { serverJsonSchemaUri } from "../../../src/official/schema.ts";
import { type Answer, Registry, token } from "../support/registry.ts";

export const registry = new Registry({ vars: { READ_LIMIT: "100000/100000" } });
export const admin = await token({ admin: true, tenants: [] });

/** Keys of `_meta`. */
export const official = "io.modelcontextprotocol.registry/official";
export const ours = "dev.rollcall/registry";
export const publisher = "io.modelcontextprotocol.registry/publisher-provided";

/** A server.json. */
export const json = (name: string, change: object = {}) => ({
  $schema: serverJsonSchemaUri,
  name,
  description: "Does things.",
  version: "1.0.0",
  ...change,
});
export const publish = (document: unknown, who = admin) =>
  registry.send("POST", "/v0.1/publish", { token: who, body: document });
export const published = async (name: string, change: object = {}) => {
  const answer = await publish(json(name, change));
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body;
};
export const path = (name: string, version?: string) =>
  `/v0.1/servers/${encodeURIComponent(name)}/versions${version === undefined ? "" : `/${encodeURIComponent(version)}`}`;
export const get = (where: string) => registry.send("GET", where);
export const list = (query: string) => get(`/v0.1/servers?${query}`);
export const status = (name: string, version: string | "all", body: unknown, who = admin) =>
  registry.send(
    "PATCH",
    version === "all" ? `/v0.1/servers/${encodeURIComponent(name)}/status` : `${path(name, version)}/status`,
    { token: who, body },
  );
/** The servers of a list, each as its name and version. */
export const named = (answer: Answer): string[] =>
  answer.body.servers.map(
    ({ server }: { server: { name: string; version: string } }) => `${server.name} ${server.version}`,
  );

/** A failure is a problem document that says everything twice, for both kinds of clients. */
export function expectProblem(answer: Answer, wanted: number, code: string, words: RegExp = /./): void {
  expect([answer.status, answer.body?.code, answer.headers.get("Content-Type")]).toEqual([
    wanted,
    code,
    "application/problem+json; charset=utf-8",
  ]);
  const { title, detail, errors, error } = answer.body;
  expect([answer.body.status, typeof title, error]).toEqual([wanted, "string", detail]);
  expect(detail).toMatch(words);
  expect(errors.length).toBeGreaterThan(0);
  for (const { message } of errors) expect(message).toMatch(/./);
}
