const encoder = new TextEncoder();

/** Length in UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** The start of a long text, with an ellipsis. Never cuts a surrogate pair in half. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}
