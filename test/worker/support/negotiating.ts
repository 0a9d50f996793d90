import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Answer, Registry } from "./registry.ts";

/** A negotiation request with the given capabilities. */
export function client(...capabilities: string[]) {
  return { client_name: "test", client_version: "1.0", supported_capabilities: capabilities };
}

export interface Opened {
  id: string;
  answer: Answer;
}

export async function negotiate(
  registry: Registry,
  request: Record<string, unknown> = client("sampling", "notifications"),
  token?: string,
): Promise<Opened> {
  const answer = await registry.send("POST", "/mcp/negotiate", { body: request, ...(token ? { token } : {}) });
  return { id: answer.headers.get("X-MCP-Session-ID") ?? "", answer };
}

/** Headers of a request in a session. */
export function inSession(id: string): { headers: Record<string, string> } {
  return { headers: { "X-MCP-Session-ID": id } };
}

function stubOf(id: string) {
  return env.SESSIONS.get(env.SESSIONS.idFromString(id));
}

/** Lets time pass for a session: what it remembers of its last use moves into the past. */
export function age(id: string, seconds: number): Promise<void> {
  return runInDurableObject(stubOf(id), (_, state) => {
    const lastActivity = state.storage.kv.get<number>("lastActivity");
    if (lastActivity !== undefined) state.storage.kv.put("lastActivity", lastActivity - seconds * 1_000);
  });
}

/** Everything a session has stored, its alarm included. */
export function stored(id: string): Promise<{ keys: string[]; alarm: number | null }> {
  return runInDurableObject(stubOf(id), async (_, state) => ({
    keys: Array.from(state.storage.kv.list(), ([key]) => key),
    alarm: await state.storage.getAlarm(),
  }));
}

export { stubOf as sessionStub };
