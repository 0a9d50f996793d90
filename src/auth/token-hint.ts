import type { TokenFault, TokenRules } from "./verify-token.ts";

/** Why a request has no token to verify. */
export type NoToken = "absent" | "scheme" | "missing";

export function reasonForNoToken(authorization: string | undefined): NoToken {
  if (authorization === undefined) return "absent";
  return /^Bearer\s*$/i.test(authorization) ? "missing" : "scheme";
}

/** What to do about a request without a token, or with one that is refused. */
export function tokenHint(fault: TokenFault | { reason: NoToken }, rules: TokenRules, now: number): string {
  const isOwn = rules.keys.kind === "secret";
  const other = isOwn ? "make a token with `npm run token -- --tenant demo`" : `get a token from ${rules.issuer}`;
  switch (fault.reason) {
    case "absent":
      return `Send \`Authorization: Bearer …\`; ${other}`;
    case "scheme":
      return "Write `Bearer ` before the token";
    case "missing":
      return "The token is empty: is $ROLLCALL_TOKEN set?";
    case "malformed":
      return `Send the whole token: three parts separated by dots. Otherwise ${other}`;
    case "expired":
      return `${ago(fault.expiredAt, now)}${sentence(other)}`;
    case "signature":
      return isOwn
        ? "Signed with another secret: pass the server's `--data` to npm run token"
        : `Signed with another key: ${other}`;
    case "not-yet-valid":
      return "Check the clock of the machine that made the token";
    case "lifetime":
      return isOwn ? "Make one with `npm run token`" : `Ask ${rules.issuer} for tokens that expire sooner`;
    default:
      return sentence(other);
  }
}

/** Only after the signature held: the time is the issuer's word, not a stranger's. */
function ago(expiredAt: number | undefined, now: number): string {
  if (expiredAt === undefined || Number.isNaN(new Date(expiredAt * 1_000).getTime())) return "";
  const seconds = Math.max(0, Math.round(now / 1_000 - expiredAt));
  const exp = new Date(expiredAt * 1_000).toISOString().replace(/\.\d+Z$/, "Z");
  return `Expired ${seconds} s ago (exp ${exp}). `;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
