import type { Exceeded } from "../imported.ts";

/** Position of a form as offsets into the text (end exclusive), and the comments next to the form. */
interface Place {
  start: number;
  end: number;
  /** Comments between the previous form and this form, without their semicolons. */
  lead?: string[];
  /** Comment after the form, on the form's last line. */
  note?: string;
  /** Offset of that comment. */
  noteAt?: number;
}

/** A comment, without its semicolons. */
export interface Comment {
  offset: number;
  text: string;
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

/** A parse error at an offset. Most callers never need the line, so it is computed separately. */
export interface OffsetFault {
  message: string;
  offset: number;
  bound?: Exceeded;
}

/** Document text as one short line, for messages. */
export function quoted(text: string): string {
  const line = text.slice(0, 41).replace(/\s+/g, " ");
  return text.length > 41 ? `${line}…` : line;
}
