/** Columns on a terminal. */

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
const ascii = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
const colours = /\u001b\[\d*m/g;

export function width(text: string): number {
  const plain = text.replace(colours, "");
  if (ascii.test(plain)) return plain.length;
  let columns = 0;
  for (const { segment } of segmenter.segment(plain))
    columns += wide.test(segment) ? 2 : /^\p{Mn}/u.test(segment) ? 0 : 1;
  return columns;
}

/** Cut to a number of columns, with an ellipsis. */
export function clipped(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let taken = "";
  for (const { segment } of segmenter.segment(text)) {
    if (width(taken + segment) > columns - 1) break;
    taken += segment;
  }
  return `${taken.trimEnd()}…`;
}

export function pad(text: string, columns: number, side: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, columns - width(text)));
  return side === "left" ? text + space : space + text;
}

/** Rows of cells as aligned lines. `right`: columns of numbers. The last column is cut at `columns`, if there are that many. */
export function table(rows: readonly (readonly string[])[], { right = [] as number[], columns = 0 } = {}): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => width(row[at] ?? ""))));
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      if (at === count - 1) {
        const used = widths.slice(0, at).reduce((sum, one) => sum + one + 2, 0);
        return columns > used + 10 ? clipped(cell, columns - used) : cell;
      }
      return pad(cell, widths[at] ?? 0, right.includes(at) ? "right" : "left");
    });
    return cells.join("  ").trimEnd();
  });
}

export const grouped = (number: number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

export const short = (digest: string) => digest.slice(0, 15);

export function plural(count: number, word: string): string {
  return `${grouped(count)} ${count === 1 ? word : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`}`;
}

/** Seconds as people say them: 23 h, 4 min, 30 s. */
export function span(seconds: number): string {
  const size = Math.abs(seconds);
  if (size >= 172_800) return `${Math.round(size / 86_400)} days`;
  if (size >= 5_400) return `${Math.round(size / 3_600)} h`;
  if (size >= 90) return `${Math.round(size / 60)} min`;
  return `${Math.round(size)} s`;
}
