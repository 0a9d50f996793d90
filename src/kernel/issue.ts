/** A problem in a document: its location (an RFC 6901 pointer), the rule, and what to do about it. */
export interface Issue {
  path: string;
  rule: string;
  message: string;
}

/** An issue in one line: its location, unless it is the whole document, and what is wrong there. */
export function issueText({ path, message }: Pick<Issue, "path" | "message">): string {
  return path === "" ? message : `${path} ${message}`;
}

/** The segments of an RFC 6901 JSON pointer. */
export function pointerSegments(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescapeSegment);
}

export function unescapeSegment(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Appends one segment to an RFC 6901 JSON pointer. */
export function pointer(parent: string, segment: string | number): string {
  return `${parent}/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
