import { type Answer, capabilities, configs, Registry, token } from "./registry.ts";

export const registry = new Registry();
export const { bounds } = registry.services.config;

/** Sends to one tenant, and says what the tenant looks like. */
export async function sender(tenant: string) {
  const mine = await token({ tenants: [tenant] });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
  return {
    send,
    publish: (name: string, body: unknown, query = "", headers: Record<string, string> = {}) =>
      send("PUT", capabilities(tenant, name) + query, body, headers),
    /** Everything a write could have moved: the log, the generation, and each server's entry. */
    state: async () => {
      const log = await send("GET", `/api/changes/${tenant}?limit=1000`);
      const list = await send("GET", `${configs}?tenant=${tenant}&limit=100`);
      return { changes: log.body.data, servers: list.body.data };
    },
  };
}
export type Sender = Awaited<ReturnType<typeof sender>>;

export const issues = (answer: Answer) =>
  answer.body.error.details.issues.map(({ path, rule }: { path: string; rule: string }) => [path, rule]);
export const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
