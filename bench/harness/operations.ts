import type { Prepared } from "../cases/case.ts";
import { receive } from "./load.ts";
import { prepare, type Target } from "./target.ts";

/** What one request touches, by the registry's own count. */
export type Operations = Record<string, number>;

/** Asked one after another, so that nothing else is counted with them. */
const asked = 10;
/** Writes settle what they owe KV and the directory a moment after they are answered. */
const stillMs = 250;
const mostWaits = 20;

/** Exact for what is always the same; an average where, say, one write in ten does more. */
export async function operationsOf(target: Target, { next }: Prepared, writes: boolean): Promise<Operations> {
  const admin = await target.callerOf([], { admin: true });
  const count = async () =>
    (await prepare<{ operations: Operations }>(target, "GET", "/api/metrics", admin)).data.operations;
  await untilStill(count);
  // Until all that can be in memory is: the head, then the answer.
  for (let index = 0; index < 3; index += 1) await receive(target.url, next());
  if (writes) await untilStill(count);
  const before = await count();
  for (let index = 0; index < asked; index += 1) await receive(target.url, next());
  if (writes) await untilStill(count);
  const after = await count();
  return Object.fromEntries(
    Object.entries(after).map(([name, total]) => [name, Number(((total - (before[name] ?? 0)) / asked).toFixed(1))]),
  );
}

/** Waits for what is under way in the background. */
async function untilStill(count: () => Promise<Operations>): Promise<void> {
  let seen = "";
  for (let waited = 0; waited < mostWaits; waited += 1) {
    const now = JSON.stringify(await count());
    if (now === seen) return;
    seen = now;
    await new Promise((resolve) => setTimeout(resolve, stillMs));
  }
}
