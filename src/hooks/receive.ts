import { countWork, heavyBytes, takePlace } from "../http/limits/work.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { issueText } from "../kernel/issue.ts";
import type { ServerRef } from "../kernel/names.ts";
import { createWorkerPace } from "../kernel/platform/worker-pace.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { strictJsonSteps } from "../kernel/strict-json.ts";
import { withTimeout } from "../kernel/timeout.ts";
import { zodIssues } from "../kernel/zod-issues.ts";
import type { Head } from "../registry/contract.ts";
import { prepareDocument } from "../registry/publish.ts";
import { refreshNow } from "../registry/read.ts";
import { sendManifest } from "../registry/send-manifest.ts";
import type { HookCredentials, PublisherEvent, ReceivedEvent } from "./contract.ts";
import type { HooksDeps } from "./deps.ts";
import { eventAnswer, inEvent, isDryRun } from "./event-answer.ts";
import { type EventResult, HookEvent } from "./schema.ts";
import type { SignedMessage } from "./signature.ts";

/**
 * Applies a signed message. `waitUntil` keeps the work going after the response. The sender receives the error of a
 * message that has no effect, and the owner finds it in the hook's deliveries.
 */
export async function receiveEvent(
  services: HooksDeps,
  { hook, message, keyId }: SignedMessage,
  body: Uint8Array,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Result<AnsweredEvent, Failure>> {
  if (!hook.enabled) return err(failure("ErrorHookDisabled"));
  const caller = `hook ${hook.tenant} ${hook.id}`;
  const tooMuch = countWork(services, caller, "bytes", body.byteLength);
  if (tooMuch !== undefined) return err(tooMuch);
  if (body.byteLength <= heavyBytes) return applyMessage(services, { hook, message, keyId }, body, caller, waitUntil);
  const place = await takePlace(services, caller);
  if (!place.ok) return place;
  try {
    return await applyMessage(services, { hook, message, keyId }, body, caller, waitUntil);
  } finally {
    place.value();
  }
}

/** `caller`: whom the work is counted for. */
async function applyMessage(
  services: HooksDeps,
  { hook, message, keyId }: SignedMessage,
  body: Uint8Array,
  caller: string,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Result<AnsweredEvent, Failure>> {
  const ref = { tenant: hook.tenant, name: hook.server };
  const object = services.tenant(hook.tenant);
  const read = await readEvent(services, ref, { ...hook, caller }, message, body);
  if (!read.ok) {
    await object.recordRefusedEvent(hook.id, message, read.error.type, read.error.failure.message);
    return err(read.error.failure);
  }
  const { event, warnings } = read.value;
  const sent = event.type === "manifest.published" ? await sendManifest(object, event.manifest) : undefined;
  if (sent?.ok === false) return err(inEvent(sent.error));
  const whole = event.type === "manifest.published" && sent?.ok ? { ...event, manifest: sent.value } : event;
  const received = await object.receiveEvent(hook.id, keyId, whole);
  if (!received.ok) return err(inEvent(received.error));
  const outcome = await withRefresh(services, ref, received.value, waitUntil);
  if (outcome.head !== undefined) await services.heads.confirm(outcome.head);
  return ok({ result: eventAnswer(event, outcome, warnings), isDryRun: isDryRun(event), head: outcome.head });
}

interface AnsweredEvent {
  result: EventResult;
  isDryRun: boolean;
  head: Head | undefined;
}

/** How long the response waits for sources to be read. */
const refreshWaitMs = 5_000;

/**
 * If sources have to be read again, the response waits a short time for that, and otherwise stays `queued`. Either way
 * this data centre serves the new content as soon as it is read.
 */
async function withRefresh(
  services: HooksDeps,
  ref: ServerRef,
  received: ReceivedEvent,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<ReceivedEvent> {
  if (received.outcome !== "queued") return received;
  const refreshing = refreshNow(services, ref, { afterRunning: true });
  waitUntil(refreshing);
  const refreshed = await withTimeout(refreshing, refreshWaitMs).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === "TimeoutError") return undefined;
    throw cause;
  });
  if (typeof refreshed !== "object" || refreshed.outcome === "failed") return received;
  const { outcome, generation, digest, head } = refreshed;
  return { outcome, generation, head, digest };
}

/** What two parsers may read differently. */
const ambiguous = ["duplicate-key", "forbidden-key", "too-many-issues"];

const openingBrace = 0x7b;
const noJson = ok({ value: undefined, issues: [] });

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
  hook: HookCredentials & { caller: string },
  message: string,
  body: Uint8Array,
): Promise<Result<ReadEvent, InvalidEvent>> {
  // A GitHub event is about a repository, not a manifest: it triggers a sync of the sources. It has no sequence, so the
  // current time is used.
  const plain = (event: PublisherEvent) => ok({ event, warnings: [] });
  const isGitHub = hook.format === "github";
  const { bounds } = services.config;
  // GitHub may also send a form, of which nothing is read.
  const isForm = isGitHub && body[0] !== openingBrace;
  const pace = createWorkerPace();
  const parsed = isForm ? noJson : await pace.run(strictJsonSteps(body, { maxDepth: bounds.depth }));
  if (!parsed.ok) return err(invalidEvent("", failure("ErrorInvalidBody", `Invalid JSON: ${parsed.error.message}`)));
  // Those of a manifest are reported with it. Elsewhere two readers may take the same signed bytes for different events.
  const damage = parsed.value.issues.find(
    ({ path, rule }) => ambiguous.includes(rule) && (isGitHub || !path.startsWith("/data/manifest/")),
  );
  if (damage !== undefined) {
    return err(
      invalidEvent("", failure("ErrorInvalidBody", `Invalid JSON: ${issueText(damage)}`, { issues: [damage] })),
    );
  }
  if (isGitHub) return plain({ message, type: "manifest.changed", sequence: services.now() });
  const event = eventOf(parsed.value.value);
  if (!event.ok) return event;
  const { type, data } = event.value;
  if (!hook.events.includes(type)) {
    const message = `This hook may not send ${type}; allowed: ${hook.events.join(", ")}. Register a hook that includes it`;
    return err(invalidEvent(type, failure("ErrorHookEvent", message)));
  }
  const { sequence, status = "active", statusMessage, dryRun = false, sections: confirmed } = data;
  if (type === "manifest.changed") return plain({ message, type, sequence });
  if (type === "server.removed") return plain({ message, type, sequence, statusMessage });
  if (type === "server.status") return plain({ message, type, sequence, status, statusMessage });
  const document = { value: data.manifest, issues: parsed.value.issues };
  const prepared = await prepareDocument(
    services,
    ref,
    document,
    { partial: false, confirmed, caller: hook.caller },
    pace,
  );
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
