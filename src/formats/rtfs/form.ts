/** Where a form stands: offsets into the text, the end exclusive. And the comments that may say something about it. */
interface Place {
  start: number;
  end: number;
  /** Comments between the form before and this one, each without its semicolons. */
  lead?: string[];
  /** The comment after it on its last line. */
  note?: string;
}

export type Form = Place &
  (
    | { kind: "string"; value: string }
    | { kind: "keyword"; name: string }
    | { kind: "symbol"; name: string }
    | { kind: "number"; value: number }
    | { kind: "boolean"; value: boolean }
    | { kind: "nil" }
    | { kind: "list" | "vector" | "set"; items: Form[] }
    | { kind: "map"; entries: [key: Form, value: Form][] }
  );

export type ListForm = Extract<Form, { kind: "list" | "vector" | "set" }>;

/** A reason a text cannot be read, still as an offset: most callers never need the line. */
export interface OffsetFault {
  message: string;
  offset: number;
}

/** Text of a document as a message may quote it: one line, not long. */
export function quoted(text: string): string {
  const line = text.slice(0, 41).replace(/\s+/g, " ");
  return text.length > 41 ? `${line}…` : line;
}
