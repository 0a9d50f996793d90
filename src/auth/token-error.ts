/** Why a token is refused. The reason is for the caller's developer and never contains values from the token. */
export type TokenFault = {
  reason:
    | "malformed"
    | "algorithm"
    | "header"
    | "signature"
    | "claims"
    | "expired"
    | "not-yet-valid"
    | "issuer"
    | "audience"
    | "lifetime"
    | "unknown-key"
    | "keys-unavailable";
  message: string;
  /** When the token expired, in epoch seconds, where that is the reason. */
  expiredAt?: number;
};

export function fault(reason: TokenFault["reason"], message: string): { ok: false; error: TokenFault } {
  return { ok: false, error: { reason, message } };
}
