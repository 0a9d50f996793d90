import type { Prepared } from "../cases/case.ts";
import type { Exchange } from "./exchange.ts";
import { receive } from "./load.ts";
import { prepare, type Target } from "./target.ts";

/** What one request touches, by the registry's own count. */
export type Operations = Record<string, number>;

/** Asked one after another, so that nothing else is counted with them. */
const asked = 10;
/** Writes settle what they owe KV and the directory a moment after they are answered. */
const settlesMs = 1_500;

/** Exact for what is always the same; an average where, say, one write in ten does more. */
export async function operationsOf(target: Target, { next }: Prepared, settles: boolean): Promise<Operations> {
  const admin = await target.callerOf([], { admin: true });
  const count = async () => {
    if (settles) await new Promise((resolve) => setTimeout(resolve, settlesMs));
    const { data } = await prepare<{ operations: Operations }>(target, "GET", "/api/metrics", admin);
    return data.operations;
  };
  const ask = (exchange: Exchange) => receive(target.url, exchange);
  // Until all that can be in memory is: the head, then the answer.
  for (let index = 0; index < 3; index += 1) await ask(next());
  const before = await count();
  for (let index = 0; index < asked; index += 1) await ask(next());
  const after = await count();
  return Object.fromEntries(
    Object.entries(after).map(([name, total]) => [name, Number(((total - (before[name] ?? 0)) / asked).toFixed(1))]),
  );
}
