import { importSigningKey } from "../../../src/webhooks/keys.ts";
import { signWebhook } from "../../../src/webhooks/sign.ts";
import { type Answer, capabilities, Registry, token } from "./registry.ts";

export const registry = new Registry();

export interface Hooked {
  id: string;
  tenant: string;
  bearer: string;
  secret: string;
  path: string;
}

/** A tenant with a server that has something published, and a hook to it. */
export async function hooked(
  tenant: string,
  request: Record<string, unknown> = {},
  manifest?: unknown,
): Promise<Hooked> {
  const bearer = await token({ sub: tenant, tenants: [tenant] });
  const first = manifest ?? { version: "0", tools: [] };
  await registry.send("PUT", capabilities(tenant, "s"), { token: bearer, body: first });
  const body = { tenant, server: "s", ...request };
  const answer = await registry.send("POST", "/api/hooks", { token: bearer, body });
  if (answer.status !== 201) throw new Error(answer.text);
  const { id, secret, url } = answer.body.data;
  return { id, tenant, bearer, secret, path: new URL(url).pathname };
}

let messages = 0;

export interface Sending {
  secret?: string;
  message?: string;
  at?: number;
  /** Replaces what was signed. */
  tampered?: string;
  registry?: Registry;
}

/** Sends an event as its publisher would: signed, with an id of its own unless one is given. */
export async function sendEvent(hook: Hooked, event: unknown, sending: Sending = {}): Promise<Answer> {
  const text = typeof event === "string" ? event : JSON.stringify(event);
  const key = await importSigningKey(sending.secret ?? hook.secret);
  if (!key.ok) throw new Error(key.error);
  const message = { id: sending.message ?? `msg_${++messages}`, body: new TextEncoder().encode(text) };
  const signed = await signWebhook(message, [key.value], sending.at ?? Date.now());
  if (!signed.ok) throw new Error(signed.error);
  const headers = { ...(signed.value as unknown as Record<string, string>), "Content-Type": "application/json" };
  return (sending.registry ?? registry).send("POST", hook.path, { headers, body: sending.tampered ?? text });
}

export const published = (sequence: number, manifest: unknown) => ({
  type: "manifest.published",
  timestamp: "2026-11-16T00:00:00Z",
  data: { sequence, manifest },
});

export const removed = (sequence: number, statusMessage?: string) => ({
  type: "server.removed",
  data: { sequence, statusMessage },
});
export const status = (sequence: number, value: string, statusMessage?: string) => ({
  type: "server.status",
  data: { sequence, status: value, statusMessage },
});
