import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { EdgeDirectory } from "../../../src/directory/edge-directory.ts";
import type { DirectoryView } from "../../../src/directory/view.ts";
import { CacheApi } from "../../../src/kernel/platform/cache-api.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { directoryOf } from "../../../src/objects/stubs.ts";
import { separateCache } from "../support/stale-kv.ts";

export const stub = () => env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));

/** Runs what the directory has to do next: the builder, if anything public has changed. */
export async function built(): Promise<void> {
  await runDurableObjectAlarm(stub());
}

export function inDirectory<T>(work: (sql: SqlStorage) => T): Promise<T> {
  return runInDurableObject(stub(), (_, { storage }) => work(storage.sql));
}

/** One isolate in a data centre of its own. */
export function isolate(options: { kv?: KVNamespace; now?: () => number; capacity?: number } = {}) {
  const usage = createUsage();
  const pending: Promise<unknown>[] = [];
  const directory = new EdgeDirectory({
    kv: options.kv ?? env.REGISTRY,
    edge: new CacheApi(separateCache(), "https://rollcall.invalid", usage),
    directory: () => directoryOf(env, usage),
    now: options.now ?? Date.now,
    capacity: options.capacity ?? 56 * 1024 * 1024,
    forms: [],
    keepAlive: (promise) => void pending.push(promise),
  });
  const settled = async () => {
    while (pending.length > 0) await pending.shift();
  };
  return {
    directory,
    usage,
    settled,
    /** Asks until the isolate has loaded what it can, and again for the view. */
    async view(): Promise<DirectoryView | undefined> {
      await directory.current();
      await settled();
      return directory.current();
    },
  };
}

/** Servers and their cards that a view shows: `tenant/name: card card`. */
export function shown(view: DirectoryView | undefined): string[] | undefined {
  return view?.segments
    .flatMap(({ segment, isLive }) =>
      Array.from({ length: segment.places }, (_, place) => place)
        .filter((place) => isLive(place) && segment.entryText(place) !== undefined)
        .map((place) => {
          const { tenant, name } = segment.placeAt(place);
          const [from, to] = segment.cardsOf(place);
          const cards = Array.from({ length: to - from }, (_, at) => segment.cardText(from + at, "key"));
          return `${tenant}/${name}: ${cards.join(" ")}`;
        }),
    )
    .sort();
}
