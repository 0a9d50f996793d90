import type { Access } from "../http/access.ts";
import { requestError } from "../http/context.ts";
import { clientAddress } from "../http/limits/client-address.ts";
import { consumeRateLimit } from "../http/request.ts";
import { digestOfText } from "../kernel/digest.ts";
import { type TenantKey, tenantKey, tenantPattern } from "../kernel/names.ts";
import { networkOf } from "../kernel/network.ts";
import { tenantExists } from "../registry/access.ts";
import { verifyGithub } from "../webhooks/github.ts";
import { importVerifyingKey } from "../webhooks/keys.ts";
import { isMessageId, messageIdRule } from "../webhooks/message.ts";
import { verifyWebhook } from "../webhooks/verify.ts";
import type { HookCredentials } from "./contract.ts";
import type { HooksDeps } from "./deps.ts";
import { hookIdPattern } from "./hook-ids.ts";

/** The hook that a path names. */
interface NamedHook extends HookCredentials {
  tenant: TenantKey;
  id: string;
}

/** A message with the hook that it came through and the key that signed it. */
export interface SignedMessage {
  hook: NamedHook;
  message: string;
  keyId: string;
}

/**
 * A publisher that has a key of the hook in the path. Until the signature is verified, an unknown tenant, an unknown
 * hook and a wrong signature have the same response.
 */
export const publisher: Access<SignedMessage & { named: NamedHook | undefined }, HooksDeps, SignedMessage> = {
  token: "none",
  fails: ["ErrorWebhookUnverified", "ErrorTooManyRequests"],
  async identify(c, services) {
    const [tenant, id] = [tenantKey(c.req.param("tenant") ?? ""), c.req.param("id") ?? ""];
    c.set("subject", `hook ${id.slice(0, 64)}`);
    // Rate limit before any lookup: the sender is not authenticated yet.
    const caller = `hook ${tenant.slice(0, 100)} ${networkOf(clientAddress(c.req.raw, services.config))}`;
    consumeRateLimit(services, services.readLimiter, caller);
    const credentials = await findCredentials(services, tenant, id);
    return { named: credentials && { ...credentials, tenant, id } };
  },
  async verify(c, services, { named: hook }, body) {
    const verified = hook && (await verify(c.req.raw.headers, hook, body, services.now()));
    if (hook === undefined || verified === undefined) throw unverified(c.req.header("webhook-id"));
    return { hook, ...verified };
  },
};

/**
 * A message id of the wrong form is named: nothing but the sender's own header is looked at, so the response says nothing
 * about hooks, keys or signatures.
 */
function unverified(id: string | undefined) {
  if (id === undefined || isMessageId(id)) return requestError("ErrorWebhookUnverified");
  return requestError("ErrorWebhookUnverified", undefined, { message: `webhook-id ${messageIdRule}` });
}

/**
 * Made-up paths must not wake a tenant's object: the directory knows which tenants ever existed, and `hookIds` which ids
 * can be a hook's.
 */
async function findCredentials(
  services: HooksDeps,
  tenant: TenantKey,
  id: string,
): Promise<HookCredentials | undefined> {
  if (!tenantPattern.test(tenant) || !hookIdPattern.test(id)) return undefined;
  if (!(await tenantExists(services, tenant)) || !(await services.hookIds.mayExist(tenant, id))) return undefined;
  return services.tenant(tenant).hookCredentials(id);
}

/** Id of the message and of the key that signed it; undefined if none of the hook's keys did. */
async function verify(
  headers: Headers,
  { format, keys }: HookCredentials,
  body: Uint8Array,
  now: number,
): Promise<{ message: string; keyId: string } | undefined> {
  // Keys are tried one by one to know which one signed: a key that is revoked meanwhile must not count.
  for (const { id: keyId, text } of keys) {
    if (format === "github") {
      const verified = await verifyGithub({ headers, body }, [text]);
      // GitHub signs neither its delivery id nor a timestamp, so the digest of the body identifies a message.
      if (verified.ok) return { message: await digestOfText(new TextDecoder().decode(body)), keyId };
      continue;
    }
    const key = await importVerifyingKey(text);
    const verified = key.ok ? await verifyWebhook({ headers, body }, [key.value], now) : undefined;
    if (verified?.ok) return { message: verified.value.id, keyId };
  }
  return undefined;
}
