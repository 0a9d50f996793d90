/** Something wrong in a document: where (an RFC 6901 pointer), which rule, and what to do about it. */
export interface Issue {
  path: string;
  rule: string;
  message: string;
}

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

/** Appends one segment to an RFC 6901 JSON pointer. */
export function pointer(parent: string, segment: string | number): string {
  return `${parent}/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
