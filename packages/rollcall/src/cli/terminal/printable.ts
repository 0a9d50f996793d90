/**
 * Text of publishers must reach neither a terminal nor a CI log as it is: escape sequences move the cursor or change the
 * title, and lines that begin with `::` (or hold `##[`) are commands to GitHub Actions and Azure Pipelines. What is not
 * plain is shown as its escape.
 */

/** Controls, bidirectional and other invisible formats, separators, lone surrogates. Joiners hide nothing by themselves. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2800\u3164\u115f\u1160]/gu;
const allowed = new Set(["\u200c", "\u200d"]);
const workflowCommand = /^(\s*):(?=:)/gm;
const inlineCommand = /#(?=#(?:\[|vso\[))/gi;

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, "0")}`;
}

function escapeUnprintable(text: string): string {
  return text.replace(unprintable, (character) =>
    character === "\n" || allowed.has(character) ? character : escaped(character),
  );
}

/** One line: line breaks and tabs become spaces, everything else that is not plain its escape. */
export function printable(text: unknown): string {
  return printableLines(String(text).replace(/\s*[\r\n\t]+\s*/g, " "));
}

/** Lines stay lines. */
export function printableLines(text: string): string {
  return escapeUnprintable(text.replace(/\r\n?/g, "\n"))
    .replace(workflowCommand, "$1\\u003a")
    .replace(inlineCommand, "\\u0023");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
const colourSequence = /(\u001b\[\d*m)/;

/** A line of our own: colours stay if there are any, other controls that slipped in are escaped. */
export function withoutControls(line: string, hasColours: boolean): string {
  return line
    .split(hasColours ? colourSequence : /(?!)/)
    .map((part, at) => (at % 2 === 1 ? part : escapeUnprintable(part)))
    .join("");
}

/** JSON that stays the same when parsed: escapes are JSON's own. Nothing in it can begin a line but JSON itself. */
export function printableJson(value: unknown, space?: number): string {
  return (JSON.stringify(value, null, space) ?? "null")
    .replace(unprintable, (character) =>
      character === "\n" || allowed.has(character) ? character : jsonEscape(character),
    )
    .replace(inlineCommand, "\\u0023");
}

function jsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => escaped(character[at] as string)).join("");
}
