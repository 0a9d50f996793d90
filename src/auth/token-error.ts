/** Why a token is refused. The reason is for the caller's developer, so it never repeats what the token says. */
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
};

export function fault(reason: TokenFault["reason"], message: string): { ok: false; error: TokenFault } {
  return { ok: false, error: { reason, message } };
}
