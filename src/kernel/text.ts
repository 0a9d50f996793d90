const encoder = new TextEncoder();

/** In UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** The beginning of a long text, with an ellipsis. A character of two code units is never cut in half. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}
