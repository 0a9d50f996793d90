import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { faultTexts, generateSecret, importVerifyingKey } from "../webhooks/keys.ts";
import type { HookKey, NewHook } from "./contract.ts";
import { type Hook, HookEventType, type HookRequest } from "./schema.ts";

/** The key that a hook is registered or rotated with, and what it is. */
export interface ChosenKey {
  key: HookKey;
  signature: Hook["signature"];
  /** The new secret, to be shown once. */
  secret?: string;
}

/** The publisher's public key, or a new shared secret. */
export async function chooseKey(publicKey: string | undefined): Promise<Result<ChosenKey, Failure>> {
  const text = publicKey ?? generateSecret();
  const imported = await importVerifyingKey(text);
  if (!imported.ok) {
    const form = "/publicKey is not a usable Ed25519 key (whpk_ + base64 of 32 bytes)";
    return err(failure("ErrorHookInvalid", `${form}: ${faultTexts[imported.error]}`));
  }
  const key = { id: crypto.randomUUID(), text };
  return ok(publicKey === undefined ? { key, signature: "secret", secret: text } : { key, signature: "publicKey" });
}

export function newHook(id: string, request: HookRequest, { key, signature }: ChosenKey): NewHook {
  const { server, format, description, events = HookEventType.options } = request;
  return {
    id,
    // GitHub's events have types of their own, and all of them mean this.
    events: format === "github" ? ["manifest.changed"] : events,
    ...{ server, format, signature, key, description },
  };
}
