import { type Failure, failure } from "../kernel/failure.ts";
import type { MemoryBudget, MemoryCache } from "../kernel/memory-budget.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { JwsHeader } from "./jwt-header.ts";
import type { Principal } from "./principal.ts";
import { reasonForNoToken, tokenHint } from "./token-hint.ts";
import { findKey, type TokenRules, verifyToken } from "./verify-token.ts";

const memoMs = 60_000;
/** Approximate size of a principal. */
const principalBytes = 1_024;

/**
 * Verifies bearer tokens. A verified token is cached for at most a minute and never past its expiry, so that a hot read
 * verifies nothing.
 */
export class Authenticator {
  readonly #rules: TokenRules | undefined;
  readonly #now: () => number;
  readonly #memo: MemoryCache<{ principal: Principal; until: number }>;

  constructor(rules: TokenRules | undefined, now: () => number, memory: MemoryBudget) {
    this.#rules = rules;
    this.#now = now;
    this.#memo = memory.cache("tokens", { reserved: 1 / 24 });
  }

  /** Reads the cache only, synchronously. */
  peek(authorization: string | undefined): Principal | undefined {
    if (authorization === undefined) return undefined;
    const entry = this.#memo.get(authorization);
    return entry !== undefined && entry.until > this.#now() ? entry.principal : undefined;
  }

  async authenticate(authorization: string | undefined): Promise<Result<Principal, Failure>> {
    const known = this.peek(authorization);
    if (known !== undefined) return ok(known);
    if (this.#rules === undefined) {
      const message = "No token key is configured. Set the secret JWT_SECRET (at least 32 bytes), or JWKS_URL";
      return err(failure("ErrorNotConfigured", message));
    }
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1];
    const now = this.#now();
    if (authorization === undefined || token === undefined) {
      const reason = reasonForNoToken(authorization);
      const hint = tokenHint({ reason }, this.#rules, now);
      return err(failure("ErrorUnauthorized", undefined, reason === "absent" ? { hint } : { reason, hint }));
    }
    const verified = await verifyToken(token, this.#rules, now);
    if (!verified.ok) {
      const { reason, message } = verified.error;
      if (reason === "keys-unavailable")
        return err(failure("ErrorUnavailable", "Could not fetch token keys from JWKS_URL, retry shortly"));
      const hint = tokenHint(verified.error, this.#rules, now);
      return err(failure("ErrorUnauthorized", undefined, { reason, message, hint }));
    }
    const until = Math.min(now + memoMs, verified.value.expiresAt * 1_000);
    // One spelling of the header only: every other one would be an entry of its own for the same token.
    if (authorization === `Bearer ${token}`)
      this.#memo.set(authorization, { principal: verified.value, until }, principalBytes);
    return ok(verified.value);
  }

  /** Whether a token with this header would still find a key: for what outlives the request that had the token. */
  async trusts(header: JwsHeader): Promise<Result<boolean, Failure>> {
    if (this.#rules === undefined) return ok(false);
    const found = await findKey(this.#rules.keys, header, this.#now());
    if (found.ok || found.error.reason !== "keys-unavailable") return ok(found.ok);
    return err(failure("ErrorUnavailable", "Could not fetch token keys from JWKS_URL, retry shortly"));
  }
}
