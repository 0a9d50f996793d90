import type { Watchers } from "../../changes/sql/watchers.ts";
import { tenantKey } from "../../kernel/names.ts";
import { countedKv } from "../../kernel/platform/counted-bindings.ts";
import { objectUsage } from "../../kernel/platform/usage.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { readJson } from "../../kernel/read-json.ts";
import { bodyKey, headKey } from "../../registry/cache/keys.ts";
import { type Head, isAtLeastAsNew } from "../../registry/contract.ts";
import { bodyTextSteps, parseBodySubject } from "../../registry/sql/revisions.ts";
import { currentHead } from "../../registry/sql/servers.ts";
import { tenantOf } from "../../registry/sql/tenant-name.ts";
import { loadingVectors } from "../../search/load-word-vectors.ts";
import type { Deliveries } from "../../subscriptions/deliveries.ts";
import { enqueueDeliveries } from "../../subscriptions/sql/queue.ts";
import { directoryOf, watcherOf } from "../stubs.ts";
import { DirectoryFeed } from "./directory-feed.ts";
import type { OutboxTargets } from "./outbox.ts";
import { stampOf } from "./restored.ts";

/** Longer than any cache can hold a head of a deleted server. */
const tombstoneSeconds = 86_400;

/** Tasks write the state at the time they run to KV and the directory, and notify watchers and subscribers. */
export function createOutboxTargets(
  env: Pick<Env, "REGISTRY" | "DIRECTORY" | "STREAMS" | "ASSETS">,
  sql: SqlStorage,
  { deliveries, watchers }: { deliveries: Deliveries; watchers: Watchers },
): OutboxTargets {
  const kv = countedKv(env.REGISTRY, objectUsage);
  const feed = new DirectoryFeed(
    sql,
    () => directoryOf(env, objectUsage),
    () => loadingVectors(env.ASSETS),
  );
  const putHead = async (name: string) => {
    const head = currentHead(sql, name);
    if (head === undefined) return;
    const lifetime = head.deleted ? { expirationTtl: tombstoneSeconds } : {};
    await kv.put(headKey(tenantKey(head.tenant), name), JSON.stringify(head), { metadata: stampOf(head), ...lifetime });
  };
  return {
    putHead,
    repairHead: async (name) => {
      const head = currentHead(sql, name);
      if (head === undefined) return;
      const stored = await kv.get(headKey(tenantKey(head.tenant), name));
      const shown = stored === null ? null : (readJson(stored) as Head);
      if (shown === null || !isAtLeastAsNew(shown, { generation: head.generation, asOf: 0 })) await putHead(name);
    },
    putBody: async (subject) => {
      const { server, digest } = parseBodySubject(subject);
      const text = await createWorkerPace().run(bodyTextSteps(sql, server, digest));
      if (text !== undefined) await kv.put(bodyKey(tenantOf(sql), server, digest), text);
    },
    dropBody: async (subject) => {
      const { server, digest } = parseBodySubject(subject);
      await kv.delete(bodyKey(tenantOf(sql), server, digest));
    },
    updateDirectory: (names) => feed.update(names),
    directoryState: () => feed.state(),
    directoryWith: (name) => feed.stateWith(name),
    removeSent: () => feed.removeAccepted(),
    watchers: () => watchers.active(Date.now()),
    notifyWatcher: (watcher) => watcherOf(env, watcher, objectUsage).notify(tenantOf(sql)),
    enqueueForSubscribers: (server) => enqueueDeliveries(sql, server, Date.now()),
    sendToSubscribers: () => void deliveries.drain(),
  };
}
