import { characterIssue } from "../../kernel/characters.ts";
import type { Comment, Form } from "./form.ts";
import type { RtfsText } from "./values.ts";

/**
 * Comments say what RTFS has no key for: sample outputs, what a field may hold, where a capability came from. A comment
 * behind a field describes the field; every other comment is kept with its capability in `metadata.rtfs.comments`.
 */

/** Enough for the head of a generated file; a text of nothing but comments must not become a manifest. */
const maxComments = 64;
const maxCommentLength = 2_000;

/** Begins the comment with which the registry prints what it knows. Sent back, it is not what the publisher says. */
export const recordPrefix = "registry: ";

/** A comment that can be printed and is read back as the same text. */
export function isPrintable(text: unknown): text is string {
  return (
    typeof text === "string" &&
    text !== "" &&
    text.length <= maxCommentLength &&
    text === text.trim() &&
    !text.startsWith(";") &&
    !/[\n\r]/.test(text) &&
    characterIssue(text) === undefined
  );
}

/** The comments of a capability document, if all of them can be printed as comments. */
export function printableComments(rtfs: Record<string, unknown>): string[] | undefined {
  const { comments } = rtfs;
  const isList = Array.isArray(comments) && comments.length > 0 && comments.length <= maxComments;
  return isList && comments.every(isPrintable) ? comments : undefined;
}

/**
 * The comments of each capability: those inside the form and above it. Comments behind the last capability belong to
 * that one. Comments that describe a field, or are part of an implementation, are kept there.
 */
export function commentsByCapability(comments: readonly Comment[], forms: readonly Form[]): Map<Form, Comment[]> {
  const found = new Map<Form, Comment[]>(forms.map((form) => [form, []]));
  let index = 0;
  for (const comment of comments) {
    while (index < forms.length - 1 && isPast(forms[index], comment)) index += 1;
    const form = forms[index];
    if (form !== undefined) found.get(form)?.push(comment);
  }
  return found;
}

function isPast(form: Form | undefined, { offset }: Comment): boolean {
  return form !== undefined && offset >= form.end && offset !== form.noteAt;
}

/** The texts to keep of a capability's comments. Warns of comments that cannot be kept. */
export function keepComments(comments: readonly Comment[], source: RtfsText): string[] {
  const kept: string[] = [];
  for (const { offset, text } of comments) {
    if (text === "" || text.startsWith(recordPrefix) || source.used.has(offset)) continue;
    if (kept.length === maxComments) {
      source.warn(offset, `the capability has more than ${maxComments} comments: those from here on are left out`);
      break;
    }
    if (isPrintable(text)) kept.push(text);
    else source.warn(offset, "the comment is too long or has characters that text must not contain: left out");
  }
  return kept;
}

interface FieldNote {
  optional: boolean;
  /** What the comment says besides that the field is optional. */
  text: string;
}

/** Reads the comment behind a field: `optional`, `optional, one of open|closed`, `one of open|closed`. */
export function readFieldNote(note: string): FieldNote {
  const [marker = ""] = /^optional\b[\s,:;.–—-]*/i.exec(note) ?? [];
  return { optional: marker !== "", text: note.slice(marker.length) };
}

/** The comment behind a field; undefined if it would be read back as something else. */
export function printFieldNote({ optional, text }: FieldNote): string | undefined {
  const note = optional ? `optional, ${text}` : text;
  if (!isPrintable(note)) return undefined;
  const read = readFieldNote(note);
  return read.optional === optional && read.text === text ? note : undefined;
}
