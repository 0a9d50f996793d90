import { type Answer, capabilities, config, configs, Registry, token } from "./registry.ts";

export const clock = Date.now();
export const registry = new Registry({ now: () => clock });

/** Writes and reads as a member of one tenant. */
export async function member(tenant: string) {
  const mine = await token({ tenants: [tenant] });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
  return {
    send,
    post: (body: Record<string, unknown>) => send("POST", configs, { tenant, ...body }),
    put: (body: Record<string, unknown>, headers?: Record<string, string>) =>
      send("PUT", configs, { tenant, ...body }, headers),
    get: (name: string, headers?: Record<string, string>) => send("GET", config(tenant, name), undefined, headers),
    remove: (name: string, headers?: Record<string, string>) =>
      send("DELETE", config(tenant, name), undefined, headers),
    publish: (name: string, body: unknown) => send("PUT", capabilities(tenant, name), body),
    capabilities: (name: string) => send("GET", capabilities(tenant, name)),
  };
}
export type Member = Awaited<ReturnType<typeof member>>;

export const yaml = (send: Member["send"], body: string, type = "application/yaml") =>
  send("POST", configs, body, { "Content-Type": type });
export const paths = (answer: Answer) => answer.body.error.details.issues.map((issue: { path: string }) => issue.path);
