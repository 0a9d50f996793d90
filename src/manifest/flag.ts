/** A warning about a capability that is no reason to reject it. */
export interface Flag {
  rule: string;
  path: string;
  message: string;
}

/** A flag with the id of its capability. Without an id the flag is about the whole server. */
export interface CapabilityFlag extends Flag {
  capability?: string;
}
