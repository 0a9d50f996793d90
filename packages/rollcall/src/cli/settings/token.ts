/** What a token says of itself, unverified: for sentences only. */
export interface TokenClaims {
  subject?: string;
  audience: string[];
  /** Epoch seconds. */
  expires?: number;
  issued?: number;
}

export function claimsOf(token: string): TokenClaims | undefined {
  const payload = token.split(".")[1];
  if (payload === undefined) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Record<string, unknown>;
    const number = (value: unknown) => (typeof value === "number" ? value : undefined);
    return {
      subject: typeof claims.sub === "string" ? claims.sub : undefined,
      audience: [claims.aud].flat().filter((one): one is string => typeof one === "string"),
      expires: number(claims.exp),
      issued: number(claims.iat),
    };
  } catch {
    return undefined;
  }
}
