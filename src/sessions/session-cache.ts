import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { Usage } from "../kernel/platform/usage.ts";
import { type Session, type SessionOwner, type SessionRecord, type SessionStub, sameOwner } from "./contract.ts";

interface Dependencies {
  create: () => { id: string; session: SessionStub };
  find: (id: string) => SessionStub | undefined;
  now: () => number;
  usage: Usage;
  memory: MemoryBudget;
}

/**
 * Sessions with a per-isolate cache. An entry is reused for at most `sessionTrustMs`, so a session that was ended in
 * another isolate may stay valid here for that long.
 */
export class Sessions {
  readonly #dependencies: Dependencies;
  readonly #memo: MemoryCache<{ session: Session; until: number }>;
  /** Sessions ended in this isolate: a `use` call in flight must not cache them again. Ids are never reused. */
  readonly #ended: MemoryCache<true>;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#memo = dependencies.memory.cache("sessions");
    this.#ended = dependencies.memory.cache("ended sessions", { reserved: 1 / 48 });
  }

  async open(record: SessionRecord): Promise<Session & { id: string }> {
    const { id, session } = this.#dependencies.create();
    const { lastActivity } = await session.open(record);
    return { ...record, id, lastActivity };
  }

  /** The session with this id, if it has not expired and belongs to the owner. */
  async check(id: string, owner: SessionOwner): Promise<(Session & { id: string }) | undefined> {
    const { find, now, usage: operations } = this.#dependencies;
    if (this.#ended.get(id)) return undefined;
    const known = this.#memo.get(id);
    if (known !== undefined && known.until > now() && sameOwner(known.session.owner, owner)) {
      operations.memory += 1;
      return { ...known.session, id };
    }
    const stub = find(id);
    if (stub === undefined) return undefined;
    const askedAt = now();
    const checked = await stub.use(owner);
    if (checked === undefined || this.#ended.get(id)) return undefined;
    const session = { ...checked.record, id, lastActivity: checked.lastActivity };
    // Counted from before the call, so that its duration does not extend the cache lifetime.
    this.#memo.set(id, { session, until: askedAt + checked.reusableMs }, 2 * JSON.stringify(session).length);
    return session;
  }

  async end(id: string, owner: SessionOwner): Promise<boolean> {
    const stub = this.#dependencies.find(id);
    if (stub === undefined) return false;
    const ended = await stub.end(owner);
    if (ended) this.#forget(id);
    return ended;
  }

  /** Returns the record and ends the session if the resume token matches. */
  async redeemResumeToken(id: string, owner: SessionOwner, resumeHash: string): Promise<SessionRecord | undefined> {
    const stub = this.#dependencies.find(id);
    if (stub === undefined) return undefined;
    const record = await stub.redeemResumeToken(owner, resumeHash);
    if (record !== undefined) this.#forget(id);
    return record;
  }

  /** Both: the mark may be evicted before a session that is read more often. */
  #forget(id: string): void {
    this.#memo.delete(id);
    this.#ended.set(id, true, 0);
  }
}
