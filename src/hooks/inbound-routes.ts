import { readBytes } from "../http/body.ts";
import { type App, type RequestContext, RequestFailed, requestError } from "../http/context.ts";
import { consumeRateLimit, readQuery } from "../http/request.ts";
import { send } from "../http/respond.ts";
import { digestOfText } from "../kernel/digest.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { issueText } from "../kernel/issue.ts";
import { type ServerRef, type TenantKey, tenantKey, tenantPattern } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseStrictJson } from "../kernel/strict-json.ts";
import { withTimeout } from "../kernel/timeout.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import { tenantExists } from "../registry/access.ts";
import { prepareDocument } from "../registry/publish.ts";
import { refreshNow } from "../registry/read.ts";
import { verifyGithub } from "../webhooks/github.ts";
import { importVerifyingKey } from "../webhooks/keys.ts";
import { verifyWebhook } from "../webhooks/verify.ts";
import type { HookCredentials, PublisherEvent, ReceivedEvent } from "./contract.ts";
import type { HooksDeps } from "./deps.ts";
import { eventAnswer, inEvent, isDryRun } from "./event-answer.ts";
import { HookEvent } from "./schema.ts";

const path = "/hooks/:tenant/:id";

/** Size limit of an event besides its manifest. */
const envelopeBytes = 64 * 1_024;

/**
 * Receives events from publishers. Until the signature is verified, an unknown tenant, an unknown hook and a wrong
 * signature have the same response.
 */
export function inboundHookRoutes(app: App, services: HooksDeps): void {
  app.post(path, async (c) => {
    const [tenant, id] = [tenantKey(c.req.param("tenant")), c.req.param("id")];
    c.set("subject", `hook ${id.slice(0, 64)}`);
    // Rate limit before any lookup: the sender is not authenticated yet.
    consumeRateLimit(
      services,
      services.readLimiter,
      `hook ${tenant.slice(0, 100)} ${c.req.header("CF-Connecting-IP") ?? ""}`,
    );
    const hook = await findCredentials(services, tenant, id);
    const body = await readBytes(c, services.config.bounds.manifestBytes + envelopeBytes);
    const verified = hook && (await verify(c, hook, body, services.now()));
    if (verified === undefined) throw requestError("ErrorWebhookUnverified");
    readQuery(c, []);
    if (!hook?.enabled) throw requestError("ErrorHookDisabled");

    const object = services.tenant(tenant);
    const read = await readEvent(services, { tenant, name: hook.server }, hook, verified.message, body);
    if (!read.ok) {
      // The sender receives the error, and the owner finds it in the hook's deliveries.
      await object.recordRefusedEvent(id, verified.message, read.error.type, read.error.failure.message);
      throw new RequestFailed(read.error.failure);
    }
    const { event, warnings } = read.value;
    const received = await object.receiveEvent(id, verified.keyId, event);
    if (!received.ok) throw new RequestFailed(inEvent(received.error));
    const outcome = await withRefresh(c, services, { tenant, name: hook.server }, received.value);
    const { head } = outcome;
    if (head !== undefined) await services.heads.confirm(head);
    return send(c, services, JSON.stringify(eventAnswer(event, outcome, warnings)), "application/json; charset=utf-8", {
      status: isDryRun(event) ? 200 : 202,
      generation: head?.asOf,
      source: "object",
      headers: { "Cache-Control": "no-store" },
    });
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
}

/** How long the response waits for sources to be read. */
const refreshWaitMs = 5_000;

/**
 * If sources have to be read again, the response waits a short time for that, and otherwise stays `queued`. Either way
 * this data centre serves the new content as soon as it is read.
 */
async function withRefresh(
  c: RequestContext,
  services: HooksDeps,
  ref: ServerRef,
  received: ReceivedEvent,
): Promise<ReceivedEvent> {
  if (received.outcome !== "queued") return received;
  const refreshing = refreshNow(services, ref, { afterRunning: true });
  c.executionCtx.waitUntil(refreshing);
  const refreshed = await withTimeout(refreshing, refreshWaitMs).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === "TimeoutError") return undefined;
    throw cause;
  });
  if (typeof refreshed !== "object" || refreshed.outcome === "failed") return received;
  const { outcome, generation, digest, head } = refreshed;
  return { outcome, generation, head, digest };
}

/** Invented paths must not wake a tenant object: the directory knows which tenants ever existed. */
async function findCredentials(
  services: HooksDeps,
  tenant: TenantKey,
  id: string,
): Promise<HookCredentials | undefined> {
  if (!tenantPattern.test(tenant) || !/^[0-9a-f-]{36}$/.test(id)) return undefined;
  if (!(await tenantExists(services, tenant))) return undefined;
  return services.tenant(tenant).hookCredentials(id);
}

/** Id of the message and of the key that signed it; undefined if none of the hook's keys did. */
async function verify(
  c: RequestContext,
  { format, keys }: HookCredentials,
  body: Uint8Array,
  now: number,
): Promise<{ message: string; keyId: string } | undefined> {
  const { headers } = c.req.raw;
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

interface InvalidEvent {
  type: string;
  failure: Failure;
}

/** An event, and warnings about its manifest. */
interface ReadEvent {
  event: PublisherEvent;
  warnings: string[];
}

/** Bytes → event. Its manifest is prepared as for any other publish. */
async function readEvent(
  services: HooksDeps,
  ref: ServerRef,
  hook: HookCredentials,
  message: string,
  body: Uint8Array,
): Promise<Result<ReadEvent, InvalidEvent>> {
  // A GitHub event is about a repository, not a manifest: it triggers a sync of the sources. It has no sequence, so the
  // current time is used.
  const plain = (event: PublisherEvent) => ok({ event, warnings: [] });
  if (hook.format === "github") return plain({ message, type: "manifest.changed", sequence: services.now() });
  const { bounds } = services.config;
  const parsed = parseStrictJson(body, { maxDepth: bounds.depth });
  if (!parsed.ok) return err(invalidEvent("", failure("ErrorInvalidBody", `Invalid JSON: ${parsed.error.message}`)));
  const event = eventOf(parsed.value.value);
  if (!event.ok) return event;
  const { type, data } = event.value;
  if (!hook.events.includes(type)) {
    const message = `The hook may not send ${type}; it may send ${hook.events.join(", ")}`;
    return err(invalidEvent(type, failure("ErrorHookEvent", message)));
  }
  const { sequence, status, dryRun = false, sections: confirmed } = data;
  if (type === "manifest.changed" || type === "server.removed") return plain({ message, type, sequence });
  if (type === "server.status") return plain({ message, type, sequence, status: status ?? "active" });
  const document = { value: data.manifest, issues: parsed.value.issues };
  const prepared = await prepareDocument(services, ref, document, { partial: false, confirmed });
  if (!prepared.ok) return err(invalidEvent(type, inEvent(prepared.error)));
  const { rejected: _, warnings, ...manifest } = prepared.value;
  return ok({ event: { message, type, sequence, manifest, dryRun }, warnings });
}

/** Validates only the envelope; the manifest is validated as for any other publish. */
function eventOf(value: unknown): Result<HookEvent, InvalidEvent> {
  const issues = zodIssues(HookEvent, value, "");
  const [first] = issues;
  if (first === undefined) return ok(HookEvent.parse(value));
  const type = typeof value === "object" && value !== null && "type" in value ? String(value.type).slice(0, 64) : "";
  const message = `${failure("ErrorEventInvalid").message}: ${issueText(first)}`;
  return err(invalidEvent(type, failure("ErrorEventInvalid", message, { issues })));
}

function invalidEvent(type: string, reason: Failure): InvalidEvent {
  return { type, failure: reason };
}
