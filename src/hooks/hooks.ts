import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Head, PublishRequest, Writer } from "../registry/contract.ts";
import { generationOf } from "../registry/sql/change-log.ts";
import { once } from "../registry/sql/idempotency.ts";
import type { WriteContext } from "../registry/sql/listener.ts";
import type { StagedPublish } from "../registry/sql/publish/stage.ts";
import { currentHead, findLive } from "../registry/sql/servers.ts";
import { shownTenant } from "../registry/sql/tenant-name.ts";
import { applyEvent, publishRequest } from "./apply-event.ts";
import type { AppliedEvent, HookCredentials, HookKey, NewHook, PublisherEvent, ReceivedEvent } from "./contract.ts";
import type { Hook, HookDelivery, HookList, HookWithDeliveries, RemovedHook } from "./schema.ts";
import { findDelivery, listDeliveries, recordDelivery } from "./sql/deliveries.ts";
import {
  changeHook,
  countHooks,
  credentialsOf,
  deleteHook,
  findHook,
  type HookRow,
  hookOf,
  insertHook,
  listHooks,
  rotateKeys,
  validKeys,
} from "./sql/hooks.ts";

const maxHooks = 100;

/** What hooks need from the tenant object. */
interface HooksOptions {
  sql: SqlStorage;
  /** False before the tenant's first write: the tables do not exist yet. */
  isReady: () => boolean;
  context: WriteContext;
  /** Runs a write of the tenant, with its rate limit, new head and outbox tasks. */
  write: (
    hook: HookRow,
    work: (at: string) => Result<AppliedEvent, Failure>,
  ) => Promise<Result<AppliedEvent & { head: Head }, Failure>>;
  /** The same for an event with a manifest. */
  publish: (
    hook: HookRow,
    request: Omit<PublishRequest, "at">,
    work: PublishWork,
  ) => Promise<Result<AppliedEvent & { head: Head }, Failure>>;
  /** Shows what an event with a manifest would do. */
  rehearse: (
    hook: HookRow,
    request: Omit<PublishRequest, "at">,
    work: PublishWork,
  ) => Promise<Result<AppliedEvent, Failure>>;
  /** Schedules a sync of the server's sources as soon as possible. */
  refreshSoon: (server: string) => void;
}

type PublishWork = (at: string, staged?: StagedPublish | "if-large") => Result<AppliedEvent, Failure>;

interface Rotation {
  key: HookKey;
  signature: Hook["signature"];
  overlapMs: number;
}

/** The hooks of a tenant: their management and the events they receive. */
export class Hooks {
  readonly #options: HooksOptions;

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  register(
    hook: NewHook,
    by: Pick<Writer, "subject" | "idempotency">,
  ): Result<{ hook: Hook; secret?: string }, Failure> {
    if (!this.#options.isReady()) return err(failure("ErrorMCPServerNotFound"));
    return once(this.#options.sql, by, Date.now(), () => this.#register(hook, by.subject));
  }

  #register(hook: NewHook, subject: string): Result<{ hook: Hook; secret?: string }, Failure> {
    const { sql } = this.#options;
    if (findLive(sql, hook.server) === undefined) return err(failure("ErrorMCPServerNotFound"));
    if (countHooks(sql) >= maxHooks) {
      return err(failure("ErrorTooManyHooks", `A tenant has at most ${maxHooks} hooks`));
    }
    insertHook(sql, hook, new Date().toISOString(), subject);
    const read = this.#read(hook.id);
    if (!read.ok) return read;
    return ok({ hook: read.value, secret: hook.signature === "secret" ? hook.key.text : undefined });
  }

  list(): HookList {
    const { sql, isReady } = this.#options;
    if (!isReady()) return { items: [], generation: 0 };
    return { items: listHooks(sql).map((row) => hookOf(sql, row, Date.now())), generation: generationOf(sql) };
  }

  show(id: string): Result<HookWithDeliveries, Failure> {
    const hook = this.#read(id);
    return hook.ok ? ok({ ...hook.value, deliveries: listDeliveries(this.#options.sql, id) }) : hook;
  }

  change(id: string, change: { enabled?: boolean; description?: string }): Result<Hook, Failure> {
    const row = this.#find(id);
    if (!row.ok) return row;
    changeHook(this.#options.sql, id, change);
    return this.#read(id);
  }

  /** The secret is that of the first request, if this one repeats it; undefined for a public key. */
  rotate(
    id: string,
    rotation: Rotation,
    by: Pick<Writer, "subject" | "idempotency">,
  ): Result<{ hook: Hook; secret?: string }, Failure> {
    const row = this.#find(id);
    if (!row.ok) return row;
    return once(this.#options.sql, by, Date.now(), () => this.#rotate(row.value, rotation));
  }

  #rotate(row: HookRow, { key, signature, overlapMs }: Rotation): Result<{ hook: Hook; secret?: string }, Failure> {
    if (row.signature !== signature) {
      const usesKey = "This hook uses a public key: send the new one as `publicKey`";
      const message = signature === "secret" ? usesKey : "This hook uses a secret: leave out `publicKey`";
      return err(failure("ErrorHookInvalid", message));
    }
    rotateKeys(this.#options.sql, row, key, overlapMs, Date.now());
    const read = this.#read(row.id);
    return read.ok ? ok({ hook: read.value, secret: signature === "secret" ? key.text : undefined }) : read;
  }

  remove(id: string): Result<RemovedHook, Failure> {
    const row = this.#find(id);
    if (!row.ok) return row;
    deleteHook(this.#options.sql, id);
    return ok({ tenant: shownTenant(this.#options.sql), id });
  }

  /** What is needed to verify a message; undefined if the hook does not exist. */
  credentials(id: string): HookCredentials | undefined {
    const row = this.#find(id);
    return row.ok ? credentialsOf(row.value, Date.now()) : undefined;
  }

  /** Applies an event that was verified with one of the hook's keys. A repeated message has no further effect. */
  async receive(id: string, keyId: string, event: PublisherEvent): Promise<Result<ReceivedEvent, Failure>> {
    const { sql, context, write, publish, rehearse, refreshSoon } = this.#options;
    const row = this.#find(id);
    // The hook or its key may have been revoked since the signature was checked.
    if (!row.ok) return err(failure("ErrorWebhookUnverified"));
    const hook = row.value;
    if (hook.enabled === 0) return err(failure("ErrorHookDisabled"));
    if (!validKeys(hook, Date.now()).some((key) => key.id === keyId)) return err(failure("ErrorWebhookUnverified"));
    const known = findDelivery(sql, id, event.message);
    if (known !== undefined) return ok(this.#duplicateOf(hook, known));

    const { message, type, sequence } = event;
    let repeated: HookDelivery | undefined;
    const work: PublishWork = (at, staged) => {
      let current = hook;
      if (typeof staged === "object") {
        // A large manifest is stored over some time: the hook may have changed, and the same message come again.
        const now = this.#find(id);
        if (!now.ok) return err(failure("ErrorWebhookUnverified"));
        repeated = findDelivery(sql, id, message);
        if (repeated !== undefined) return ok({ outcome: "unchanged", generation: generationOf(sql) });
        current = now.value;
      }
      const applied = applyEvent(sql, event, { hook: current, at, write: context, staged });
      if (applied.ok) recordDelivery(sql, id, { message, type, sequence, ...applied.value }, Date.now());
      return applied;
    };
    const request = event.type === "manifest.published" ? publishRequest(hook, event.manifest) : undefined;
    if (request !== undefined && event.type === "manifest.published" && event.dryRun) {
      return rehearse(hook, request, work);
    }
    const isNewer = sequence > hook.manifest_sequence;
    const received =
      request !== undefined && isNewer ? await publish(hook, request, work) : await write(hook, (at) => work(at));
    if (repeated !== undefined) return ok(this.#duplicateOf(hook, repeated));
    if (!received.ok) this.#recordRefusal(id, event, received.error);
    else if (received.value.outcome === "queued") refreshSoon(hook.server);
    return received;
  }

  /** Records for the owner why a verified message had no effect. */
  recordRefused(id: string, message: string, type: string, reason: string): void {
    if (!this.#find(id).ok || findDelivery(this.#options.sql, id, message) !== undefined) return;
    recordDelivery(this.#options.sql, id, { message, type, outcome: "refused", reason }, Date.now());
  }

  #recordRefusal(id: string, { message, type, sequence }: PublisherEvent, { message: reason }: Failure): void {
    recordDelivery(this.#options.sql, id, { message, type, sequence, outcome: "refused", reason }, Date.now());
  }

  /** Outcome of a repeated message, with the current head of its server. */
  #duplicateOf({ server }: HookRow, { generation, digest }: HookDelivery): ReceivedEvent {
    const head = currentHead(this.#options.sql, server);
    return {
      outcome: "duplicate",
      generation: head?.generation ?? generation ?? 0,
      digest,
      head,
    };
  }

  #find(id: string): Result<HookRow, Failure> {
    const row = this.#options.isReady() ? findHook(this.#options.sql, id) : undefined;
    return row === undefined ? err(failure("ErrorHookNotFound")) : ok(row);
  }

  #read(id: string): Result<Hook, Failure> {
    const row = this.#find(id);
    return row.ok ? ok(hookOf(this.#options.sql, row.value, Date.now())) : row;
  }
}
