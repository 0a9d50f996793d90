import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import type { PublishingOptions } from "../../../packages/rollcall/src/publisher/index.ts";

export const secret = `whsec_${btoa("a-secret-for-tests-of-the-kit-32")}`;

export interface Event {
  sequence: number;
  dryRun?: boolean;
  manifest: { version?: string; instructions?: string; tools: { name: string }[]; prompts: { name: string }[] };
}

/** A hook that verifies with the package of Standard Webhooks, and answers what the test says. */
export function createHook(answer: (event: Event, count: number) => Response | Promise<Response> = () => accepted()) {
  const events: Event[] = [];
  const lines: string[] = [];
  const options: PublishingOptions = {
    // Publishers are kept by address.
    url: `https://registry.test/hooks/acme/${crypto.randomUUID()}`,
    secret,
    log: (line) => lines.push(line),
    fetch: async (_url, init) => {
      const headers = Object.fromEntries(new Headers(init.headers));
      const body = new Webhook(secret).verify(new TextDecoder().decode(init.body as Uint8Array), headers);
      const { data } = body as { data: Event };
      events.push(data);
      return answer(data, events.length);
    },
  };
  const names = () => events.map(({ manifest }) => manifest.tools.map(({ name }) => name));
  return { options, events, lines, names };
}

export function accepted(outcome = "applied"): Response {
  return Response.json({ outcome, generation: 1 }, { status: 202 });
}

export function refused(status: number, error: object = {}, headers: Record<string, string> = {}): Response {
  return Response.json({ success: false, error: { code: "ErrorTest", message: "No", ...error } }, { status, headers });
}

export const until = (check: () => void) => vi.waitFor(check, { timeout: 5_000, interval: 5 });
