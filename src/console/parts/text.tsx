import type { Child } from "hono/jsx";

/** Publisher text is text: never Markdown, never a link, and what cannot be seen is made visible. */

const plain = /^[\t\n\r\x20-\x7e]*$/;

/** Joiners are fine between letters and between parts of an emoji; everything else here is drawn as nothing. */
const odd =
  /(?<![\p{L}\p{M}\p{Extended_Pictographic}\uFE0F\p{Emoji_Modifier}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{Extended_Pictographic}])|[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\u2800]--[\t\n\r\u200c\u200d]]/gv;

/** Text of a publisher as a child of an element. Text beyond ASCII is isolated, so that it cannot reorder its neighbours. */
export function text(value: string): Child {
  if (plain.test(value)) return value;
  return <bdi dir="auto">{withChips(value)}</bdi>;
}

function withChips(value: string): Child[] {
  const parts: Child[] = [];
  let at = 0;
  for (const match of value.matchAll(odd)) {
    if (match.index > at) parts.push(value.slice(at, match.index));
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(<span class="chip odd">U+{code}</span>);
    at = match.index + match[0].length;
  }
  parts.push(value.slice(at));
  return parts;
}

/** The beginning of a text, cut between words where that is possible. */
export function clip(value: string, most: number): string {
  if (value.length <= most) return value;
  const cut = value.slice(0, most).replace(/\s+\S*$/, "");
  return `${(cut === "" ? value.slice(0, most) : cut).toWellFormed()} …`;
}

/** Text of which words are marked, by start and end. */
export function marked(value: string, places: readonly (readonly [number, number])[] = []): Child {
  if (places.length === 0) return text(value);
  const parts: Child[] = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at || end > value.length) continue;
    parts.push(text(value.slice(at, start)), <mark>{text(value.slice(start, end))}</mark>);
    at = end;
  }
  parts.push(text(value.slice(at)));
  return <bdi dir="auto">{parts}</bdi>;
}
