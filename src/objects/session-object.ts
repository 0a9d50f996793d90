import { DurableObject } from "cloudflare:workers";
import { countedValues } from "../kernel/platform/counted-storage.ts";
import {
  type CheckedSession,
  type SessionOwner,
  type SessionRecord,
  type SessionStub,
  sameOwner,
} from "../sessions/contract.ts";
import { activityWriteMs, deleteAt, isExpired, sessionIdleMs, trustMs } from "../sessions/lifetime.ts";

/**
 * One session. Its own clock decides what is expired, so no caller's can revive or end it. Nothing is written until it
 * is opened, and nothing is left once it is over: an unknown id wakes an object that stays empty.
 */
export class SessionObject extends DurableObject<Env> implements SessionStub {
  readonly #kv = countedValues(this.ctx.storage.kv);

  async open(record: SessionRecord): Promise<{ lastActivity: number }> {
    const now = Date.now();
    this.#kv.put("record", record);
    this.#kv.put("lastActivity", now);
    this.#wakeAt(now + sessionIdleMs);
    return { lastActivity: now };
  }

  /** The session if it lives and is the owner's. To anyone else it does not exist. Counts as a use. */
  async use(owner: SessionOwner): Promise<CheckedSession | undefined> {
    const found = this.#find(owner);
    const now = Date.now();
    if (found === undefined || isExpired(found.lastActivity, now)) return undefined;
    let { lastActivity } = found;
    if (now - lastActivity > activityWriteMs) {
      // The alarm stays where it is and looks at the activity when it rings: one write a minute is enough.
      this.#kv.put("lastActivity", now);
      lastActivity = now;
    }
    return { record: found.record, lastActivity, reusableMs: trustMs(lastActivity, now) };
  }

  async end(owner: SessionOwner): Promise<boolean> {
    const found = this.#find(owner);
    const alive = found !== undefined && !isExpired(found.lastActivity, Date.now());
    if (alive) await this.ctx.storage.deleteAll();
    return alive;
  }

  /** Hands the session over to whoever holds its resume token, alive or expired, and is gone itself. */
  async redeemResumeToken(owner: SessionOwner, resumeHash: string): Promise<SessionRecord | undefined> {
    const found = this.#find(owner);
    if (found?.record.resume?.hash !== resumeHash) return undefined;
    if (Date.now() > deleteAt(found.record, found.lastActivity)) return undefined;
    // Input gates keep a second one out until this is done, so a token is good once.
    await this.ctx.storage.deleteAll();
    return found.record;
  }

  override async alarm(): Promise<void> {
    const record = this.#kv.get<SessionRecord>("record");
    const lastActivity = this.#kv.get<number>("lastActivity");
    if (record === undefined || lastActivity === undefined) return;
    const forgotten = deleteAt(record, lastActivity);
    if (Date.now() > forgotten) await this.ctx.storage.deleteAll();
    else this.#wakeAt(forgotten);
  }

  #find(owner: SessionOwner): { record: SessionRecord; lastActivity: number } | undefined {
    const record = this.#kv.get<SessionRecord>("record");
    const lastActivity = this.#kv.get<number>("lastActivity");
    if (record === undefined || lastActivity === undefined || !sameOwner(record.owner, owner)) return undefined;
    return { record, lastActivity };
  }

  /** A moment later than the last one it is still good at. */
  #wakeAt(lastMoment: number): void {
    void this.ctx.storage.setAlarm(lastMoment + 1);
  }
}
