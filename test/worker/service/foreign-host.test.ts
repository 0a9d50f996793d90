import { describe, expect, it } from "vitest";
import type { Operation } from "../../../src/http/operation.ts";
import { operations } from "../../../src/operations.ts";
import { loadDemo } from "../support/demo.ts";
import { runExample } from "../support/example-requests.ts";
import { type Answer, Registry, token } from "../support/registry.ts";

/** Requests of the tests name this host. */
const named = "registry.test";
const own = "http://10.0.0.1:8787";

/** Ids of the operations whose answers to their examples have the host that the requests name. */
async function repeating(
  registry: Registry,
  asked = operations,
): Promise<{ ids: string[]; answers: Map<string, Answer> }> {
  await loadDemo(registry);
  const admin = await token({ tenants: ["acme", "demo"], admin: true });
  const ids = new Set<string>();
  const answers = new Map<string, Answer>();
  // What an example needs must not be deleted by one before it.
  const isRemoval = ({ method }: Operation) => method === "delete";
  for (const operation of [...asked].sort((a, b) => Number(isRemoval(a)) - Number(isRemoval(b)))) {
    for (const example of Object.values(operation.examples ?? {})) {
      const answer = await runExample(registry, operation, example, admin).catch(() => undefined);
      // /mcp refuses the host, and says which.
      if (answer === undefined || answer.status === 403) continue;
      const said = `${answer.text}\n${[...answer.headers].join("\n")}`;
      if (said.includes(named)) ids.add(operation.id);
      answers.set(operation.id, answer);
    }
  }
  return { ids: [...ids].sort(), answers };
}

// Every example of every operation is sent.
describe("a request that names a host", { timeout: 90_000 }, () => {
  const linking = ["getDescription", "getServerCard", "listOfficialServers", "registerHook"];

  it("gets links to it where any host may be named", async () => {
    const { ids } = await repeating(
      new Registry(),
      operations.filter(({ id }) => linking.includes(id)),
    );
    expect(ids).toEqual(expect.arrayContaining(linking));
  });

  it("gets links to ours where it is not one of them, from every operation", async () => {
    const only = { MCP_HOSTS: "known.example", DEFAULT_ORIGIN: own };
    const { ids, answers } = await repeating(new Registry({ vars: only }));
    expect(ids).toEqual([]);
    for (const id of linking) expect([id, answers.get(id)?.text.includes(own)]).toEqual([id, true]);
  });

  it("gets a challenge with a link of ours", async () => {
    const registry = new Registry({ vars: { MCP_HOSTS: "known.example" } });
    const { status, headers } = await registry.send("PUT", "/api/mcp/capabilities/acme/a", { body: {} });
    expect(status).toBe(401);
    expect(headers.get("WWW-Authenticate")).toContain(
      'resource_metadata="https://known.example/.well-known/oauth-protected-resource',
    );
  });
});
