import { DurableObject } from "cloudflare:workers";
import { countedValues } from "../kernel/platform/counted-storage.ts";
import {
  type CheckedSession,
  type LeaseRequest,
  type SessionLease,
  type SessionLeases,
  type SessionOwner,
  type SessionRecord,
  type SessionStub,
  sameOwner,
} from "../sessions/contract.ts";
import { activityWriteMs, deleteAt, isExpired, sessionIdleMs, trustMs } from "../sessions/lifetime.ts";

const hourMs = 3_600_000;

/**
 * One session. The object's clock decides expiry, so that no caller's clock can revive or end the session. Nothing is
 * stored before `open` or after the end: an unknown id wakes an object that stays empty.
 */
export class SessionObject extends DurableObject<Env> implements SessionStub, SessionLeases {
  readonly #kv = countedValues(this.ctx.storage.kv);

  async open(record: SessionRecord): Promise<{ lastActivity: number }> {
    const now = Date.now();
    this.#kv.put("record", record);
    this.#kv.put("lastActivity", now);
    this.#wakeAt(now + sessionIdleMs);
    return { lastActivity: now };
  }

  /**
   * Returns the session if it is live and belongs to the owner, and counts as activity. For any other owner the session
   * does not exist.
   */
  async use(owner: SessionOwner): Promise<CheckedSession | undefined> {
    const found = this.#find(owner);
    const now = Date.now();
    if (found === undefined || isExpired(found.lastActivity, now)) return undefined;
    let { lastActivity } = found;
    if (now - lastActivity > activityWriteMs) {
      // The alarm is not moved: it reads the last activity when it fires. One write a minute is enough.
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

  /**
   * Returns the record and deletes the session if the resume token matches. Works for live and expired sessions, once.
   */
  async redeemResumeToken(owner: SessionOwner, resumeHash: string): Promise<SessionRecord | undefined> {
    const found = this.#find(owner);
    if (found?.record.resume?.hash !== resumeHash) return undefined;
    if (Date.now() > deleteAt(found.record, found.lastActivity)) return undefined;
    // Input gates block a concurrent call until this is done, so a token works only once.
    await this.ctx.storage.deleteAll();
    return found.record;
  }

  /** Called on one object alone, which is no session. Counts by the hours of its clock. */
  async leaseSessions(mostAnHour: number, { wanted, unused, hourEnds }: LeaseRequest): Promise<SessionLease> {
    const hour = Math.floor(Date.now() / hourMs);
    const until = (hour + 1) * hourMs;
    const counted = this.#kv.get<{ hour: number; leased: number }>("leases");
    const before = counted?.hour === hour ? counted.leased : 0;
    const leased = hourEnds === until ? Math.max(0, before - unused) : before;
    const sessions = Math.max(0, Math.min(wanted, mostAnHour - leased));
    if (leased + sessions !== before) this.#kv.put("leases", { hour, leased: leased + sessions });
    return { sessions, until };
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
    const stored = this.#kv.get<number>("lastActivity");
    if (record === undefined || stored === undefined || !sameOwner(record.owner, owner)) return undefined;
    const now = Date.now();
    if (stored <= now) return { record, lastActivity: stored };
    // The clock went back: without this the session would live on until it has caught up.
    this.#kv.put("lastActivity", now);
    this.#wakeAt(now + sessionIdleMs);
    return { record, lastActivity: now };
  }

  /** Sets the alarm just after `lastMoment`, the last one at which the session is valid or can be resumed. */
  #wakeAt(lastMoment: number): void {
    void this.ctx.storage.setAlarm(lastMoment + 1);
  }
}
