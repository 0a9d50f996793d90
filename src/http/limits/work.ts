import { type Failure, failure } from "../../kernel/failure.ts";
import type { Leave } from "../../kernel/pace/admission.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { HttpDeps, WorkLimiters } from "../deps.ts";

const units = {
  bytes: { bound: "workBytes", what: "bytes of bodies" },
  items: { bound: "workItems", what: "items" },
} as const;

/** Counts work of a caller before it is done. Returns the failure of a caller who has had enough for now. */
export function countWork(
  { config, workLimiters, now }: Pick<HttpDeps, "config" | "workLimiters" | "now">,
  caller: string,
  unit: keyof WorkLimiters,
  amount: number,
): Failure | undefined {
  const allowed = workLimiters[unit].consume(caller, now(), amount);
  if (allowed.ok) return undefined;
  const { retryAfterSeconds } = allowed;
  const { bound, what } = units[unit];
  const limit = config.workLimit[unit].burst;
  const message = `Too much work at once: this request has ${amount} ${what}, and one caller may send ${limit} a minute; nothing was changed`;
  const hint = `Retry in ${retryAfterSeconds} s, or send it in smaller parts; operator: the setting WORK_LIMIT raises it`;
  return failure("ErrorTooManyRequests", message, {
    retryAfterSeconds,
    hint,
    bound: { name: bound, limit, found: amount },
    setting: "WORK_LIMIT",
  });
}

/** A body or a number of items above which a publish is costly. */
export const heavyBytes = 256 * 1024;
export const heavyItems = 500;

const busySeconds = 5;

/**
 * Takes a place for a costly request of a caller, after a short wait if need be. `keptMs`: the place is lost after this time
 * unless it is renewed.
 */
export async function takePlace(
  { admission }: Pick<HttpDeps, "admission">,
  caller: string,
  keptMs?: number,
): Promise<Result<Leave, Failure>> {
  const leave = await admission.enter(caller, (milliseconds) => scheduler.wait(milliseconds), keptMs);
  return leave === undefined ? err(busy()) : ok(leave);
}

/** The failure of a costly request for which there was no place in time. */
export function busy(): Failure {
  return failure("ErrorUnavailable", "The registry is busy with other large documents; nothing was changed", {
    retryAfterSeconds: busySeconds,
    hint: "Send one large document at a time, and again after the seconds in Retry-After; operator: more isolates or processes serve more at once, no setting does",
    bound: { name: "admission" },
  });
}
