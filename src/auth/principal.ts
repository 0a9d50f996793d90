/** Who is calling and what the token lets them do. A tenant is granted only by name: there is no wildcard. */
export interface Principal {
  subject: string;
  tenants: readonly string[];
  scopes: readonly string[];
  admin: boolean;
  /** No token was given: only what is public may be read. */
  anonymous?: true;
  /** Epoch seconds; nothing derived from the token may outlive it. */
  expiresAt: number;
}
