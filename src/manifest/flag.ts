/** Something a reader should know about a capability that is not reason enough to refuse it. */
export interface Flag {
  rule: string;
  path: string;
  message: string;
}

/** A flag with the id of the capability it is about; without one it is about the server as a whole. */
export interface CapabilityFlag extends Flag {
  capability?: string;
}
