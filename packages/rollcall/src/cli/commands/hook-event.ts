import { readJson } from "../../../../../src/kernel/read-json.ts";
import type { PublishResult } from "../../client/write.ts";
import { createSender, type EventType, type Sender } from "../../webhooks/index.ts";
import type { Context } from "../context.ts";
import { CliError, exitCodes, UsageError } from "../failure.ts";
import type { Target } from "./publish.ts";

/**
 * Orders events of one hook. With a release (a build number) an old replica that restarts cannot win over a newer one;
 * without, the clock decides. Switching from the clock to releases only raises the number.
 */
export function sequenceNow(env: NodeJS.ProcessEnv, now: number): number {
  const release = env["ROLLCALL_RELEASE"];
  if (release === undefined || release === "") return now;
  if (!/^\d{1,9}$/.test(release)) throw new UsageError(`ROLLCALL_RELEASE "${release}" is not a build number`);
  const attempt = /^\d{1,5}$/.test(env["GITHUB_RUN_ATTEMPT"] ?? "") ? Number(env["GITHUB_RUN_ATTEMPT"]) : 0;
  return (2 ** 22 + Number(release)) * 2 ** 20 + attempt;
}

export async function hookSender(): Promise<Sender & { url: string }> {
  const url = process.env["ROLLCALL_HOOK_URL"] ?? "";
  const secret = process.env["ROLLCALL_HOOK_SECRET"] ?? "";
  if (url === "" || secret === "") {
    throw new UsageError("--hook needs ROLLCALL_HOOK_URL and ROLLCALL_HOOK_SECRET", {
      hint: "rollcall hooks add T/NAME prints both.",
    });
  }
  if (!URL.canParse(url)) throw new UsageError("ROLLCALL_HOOK_URL is not an address");
  try {
    return { url, ...(await createSender({ url, secret })) };
  } catch (error) {
    throw new UsageError((error as Error).message, {
      hint: "Check ROLLCALL_HOOK_SECRET; rollcall hooks rotate makes a new one.",
    });
  }
}

/** Sends one event, and explains a refusal. A hook answers without the API's envelope. */
export async function sendEvent(
  sender: Sender & { url: string },
  type: EventType,
  data: Record<string, unknown>,
  { sequence, signal }: { sequence: number; signal: AbortSignal },
): Promise<Record<string, unknown>> {
  const sent = await sender.send(type, data, { sequence, signal }).catch(() => {
    signal.throwIfAborted();
    throw new CliError("The hook cannot be reached", {
      where: new URL(sender.url).origin,
      exitCode: exitCodes.unreachable,
      code: "ErrorUnreachable",
    });
  });
  const { status, answer } = sent;
  if (status < 300) return answer;
  const error = (typeof answer.error === "object" && answer.error !== null ? answer.error : answer) as Record<
    string,
    unknown
  >;
  const details = (error.details ?? {}) as { issues?: { path: string; message: string }[]; hint?: string };
  const hints: Record<number, string> = {
    401: "The secret does not match, or this machine's clock is off by more than five minutes; rollcall doctor shows it.",
    404: "The hook is gone; rollcall hooks add makes a new one.",
    410: "The hook is switched off; rollcall hooks on switches it on.",
  };
  throw new CliError(`The hook refused the event: ${String(error.message ?? error.error ?? `HTTP ${status}`)}`, {
    code: String(error.code ?? "ErrorHook"),
    hint: details.hint ?? hints[status],
    lines: details.issues?.map(({ path, message }) => `${path} ${message}`),
    exitCode:
      status === 401 ? exitCodes.signIn : status === 429 || status >= 500 ? exitCodes.unreachable : exitCodes.refused,
    details: error.details,
  });
}

export async function publishByHook(
  context: Context,
  offer: { body: object | string; type?: string },
): Promise<Target> {
  const sender = await hookSender();
  if (offer.type !== undefined && offer.type !== "application/json") {
    throw new UsageError("A hook takes JSON", { hint: "Convert the file, or publish it with a login." });
  }
  const manifest = typeof offer.body === "string" ? readJson(offer.body) : offer.body;
  return {
    async send(dryRun) {
      const sequence = sequenceNow(process.env, Date.now());
      const data = dryRun ? { manifest, dryRun } : { manifest };
      const answer = await sendEvent(sender, "manifest.published", data, { sequence, signal: context.signal });
      const { outcome } = answer;
      if (outcome === "stale") {
        throw new CliError("A newer event was sent already: nothing was published", {
          hint: "Raise ROLLCALL_RELEASE; it must grow with every release.",
          code: "ErrorEventStale",
        });
      }
      const none = { breaking: 0, additive: 0, cosmetic: 0, removed: 0 };
      const known = { changes: none, flags: [], collisions: [], warnings: [], ...answer };
      return {
        ...known,
        outcome: outcome === "unchanged" || outcome === "duplicate" ? "unchanged" : "changed",
      } as unknown as PublishResult;
    },
  };
}
