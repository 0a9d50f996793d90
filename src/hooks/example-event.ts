import { importSigningKey } from "../webhooks/keys.ts";
import { signWebhook } from "../webhooks/sign.ts";
import type { RegisteredHook } from "./schema.ts";

/** An event that leaves the demo as it is. */
export const exampleEvent = { type: "server.status", data: { sequence: 1, status: "active" } };

/** The path of a hook, and the headers with which its publisher sends the example. */
export async function signedBy({ tenant, id, secret = "" }: RegisteredHook): Promise<Record<string, string>> {
  const key = await importSigningKey(secret);
  if (!key.ok) throw new Error(`the example's secret is not one: ${key.error}`);
  const body = new TextEncoder().encode(JSON.stringify(exampleEvent));
  const signed = await signWebhook({ id: `msg_${id}`, body }, [key.value], Date.now());
  if (!signed.ok) throw new Error(`the example cannot be signed: ${signed.error}`);
  return { tenant, id, ...signed.value };
}
