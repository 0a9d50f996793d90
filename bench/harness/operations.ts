import { CommandError } from "../../scripts/command.ts";
import type { Case, Prepared } from "../cases/case.ts";
import { receive } from "./load.ts";
import { prepare, type Target } from "./target.ts";

/** What one request touches, by the registry's own count. */
export type Operations = Record<string, number>;

/** Reads are asked one after another, so that nothing else is counted with them. */
const asked = 10;
const stillMs = 1_200;
const mostWaits = 15;

/**
 * Exact for what is always the same; an average where, say, one request in ten does more. Writes are counted each by
 * itself, `written` of them, with all that they leave to be done: KV takes one a second to a key, and what comes sooner
 * waits.
 */
export async function operationsOf(
  target: Target,
  { next }: Prepared,
  { status, writes = false }: Pick<Case, "status" | "writes">,
  written: number,
): Promise<Operations> {
  const count = await counter(target);
  const ask = async () => {
    const answer = await receive(target.url, next());
    if (answer.status !== status) throw new CommandError(`Answered ${answer.status} instead of ${status}.`);
  };
  // Until all that can be in memory is: the head, then the answer.
  for (let warm = 0; warm < 3; warm += 1) await ask();
  const times = writes ? written : asked;
  const before = await (writes ? untilStill(count) : count());
  for (let index = 0; index < times; index += 1) {
    await ask();
    if (writes) await untilStill(count);
  }
  const after = await count();
  return Object.fromEntries(
    Object.entries(after).map(([name, total]) => [name, Number(((total - (before[name] ?? 0)) / times).toFixed(1))]),
  );
}

/** Reads the registry's own counts. */
export async function counter(target: Target): Promise<() => Promise<Operations>> {
  const admin = await target.callerOf([], { admin: true });
  return async () => (await prepare<{ operations: Operations }>(target, "GET", "/api/metrics", admin)).data.operations;
}

/** Waits for what preparations left to be done. */
export async function atRest(target: Target): Promise<void> {
  await untilStill(await counter(target));
}

/** The counts, once nothing is under way in the background. */
async function untilStill(count: () => Promise<Operations>): Promise<Operations> {
  let seen = await count();
  for (let waited = 0; waited < mostWaits; waited += 1) {
    await new Promise((resolve) => setTimeout(resolve, stillMs));
    const now = await count();
    if (JSON.stringify(now) === JSON.stringify(seen)) return now;
    seen = now;
  }
  throw new CommandError("The registry does not come to rest, so what a write costs cannot be counted.");
}
