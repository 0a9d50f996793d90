import { isMember, type Principal, type Scope } from "../auth/principal.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { Usage } from "../kernel/platform/usage.ts";

/** A complete response, ready to be sent to every caller of the audience it was made for. */
export interface CachedResponse {
  /** Route name in the metrics. */
  route: string;
  /** The whole body, or the text before and after the id of a JSON-RPC message; undefined if only a 304 can be sent. */
  body: Uint8Array | { before: string; behind: string } | undefined;
  /** Built once: copying Headers costs a fraction of building them. */
  readonly headers: Headers;
  etag: string | undefined;
  /** The 304. It has no body, so the same Response can be sent any number of times. */
  readonly notModified: { headers: Headers; response: Response };
  /** Set if the format depends on `Accept`: false for a header that gets another. */
  accepts?: (accept: string | undefined) => boolean;
  /** True while everything the response was made from is in memory and unchanged. */
  isValid: () => boolean;
}

/** Who may be sent the responses to a question, and which callers get the same response. */
export interface ResponseAccess {
  scope: Scope;
  /** Whether callers without a token are answered. */
  anonymous: boolean;
  /**
   * What the response depends on besides the question: nothing; whether the caller is a member of this tenant; or, for
   * lists, which tenants the caller holds.
   */
  variesBy: "nothing" | "tenants" | { member: TenantKey };
}

/** Access to the responses to a question, and the keys of the most asked ones: building a key costs as much as a lookup. */
interface Question {
  access: ResponseAccess;
  anyone: string;
  members: string;
}

/** Approximate size of headers and the objects around them. */
const overhead = 2_048;
/** Approximate size of an access rule. */
const accessBytes = 100;

/**
 * Responses of this isolate, by question (the URL, or the URL and the message) and audience, never by token: callers who
 * would get the same response share it. A response is stored after the app made it with every check. Before it is sent
 * again, the access that it needs is checked for the caller at hand.
 */
export class ResponseStore {
  readonly #access: MemoryCache<Question>;
  readonly #responses: MemoryCache<CachedResponse>;
  readonly #operations: Usage;
  #hits = 0;
  #misses = 0;

  constructor(memory: MemoryBudget, operations: Usage) {
    this.#access = memory.cache("response access");
    this.#responses = memory.cache("responses");
    this.#operations = operations;
  }

  /** Lookups that found a response to send, and those that did not. */
  get lookups(): { hits: number; misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /**
   * The response for a caller; `identify` is called only if there are responses to the question, and returns undefined
   * if the caller is not known to be authenticated.
   */
  find(
    question: string,
    identify: (access: ResponseAccess) => Principal | undefined,
  ): { response: CachedResponse; principal: Principal } | undefined {
    const found = this.#find(question, identify);
    if (found === undefined) this.#misses += 1;
    else {
      this.#hits += 1;
      this.#operations.memory += 1;
    }
    return found;
  }

  #find(question: string, identify: (access: ResponseAccess) => Principal | undefined) {
    const asked = this.#access.get(question);
    const principal = asked && identify(asked.access);
    if (principal === undefined || asked === undefined || !principal.scopes.includes(asked.access.scope)) {
      return undefined;
    }
    const audience = audienceOf(asked.access, principal);
    const key = audience === "anyone" ? asked.anyone : audience === "members" ? asked.members : undefined;
    const response = this.#responses.get(key ?? keyOf(question, audience));
    // An invalid response stays: the head it was made from may be confirmed unchanged by the next read.
    return response?.isValid() ? { response, principal } : undefined;
  }

  put(question: string, access: ResponseAccess, principal: Principal, response: CachedResponse): void {
    const keys = { anyone: keyOf(question, "anyone"), members: keyOf(question, "members") };
    this.#access.set(question, { access, ...keys }, accessBytes + 4 * question.length);
    this.#responses.set(keyOf(question, audienceOf(access, principal)), response, sizeOf(response) + overhead);
  }
}

function keyOf(question: string, audience: string): string {
  return `${audience} ${question}`;
}

/** Callers with the same audience get the same response to the same question. */
export function audienceOf({ variesBy }: ResponseAccess, principal: Principal): string {
  if (variesBy === "nothing") return "anyone";
  if (variesBy === "tenants") return tenantsOf(principal);
  return isMember(principal, variesBy.member) ? "members" : "anyone";
}

/** An authenticated principal is one object for as long as its token is cached, so its tenants are sorted once. */
const sortedTenants = new WeakMap<Principal, string>();

function tenantsOf(principal: Principal): string {
  let names = sortedTenants.get(principal);
  if (names === undefined) {
    names = principal.admin ? "admin" : `tenants:${[...new Set(principal.tenants)].sort().join()}`;
    sortedTenants.set(principal, names);
  }
  return names;
}

function sizeOf({ body }: CachedResponse): number {
  if (body === undefined) return 0;
  return body instanceof Uint8Array ? body.byteLength : 2 * (body.before.length + body.behind.length);
}
