/**
 * Position in a JSON text. The functions here read the tokens of RFC 8259: strings, numbers, literals and whitespace.
 * On success they move the cursor past the token; on an error they leave it at the offending character and return a
 * message.
 */
export interface Cursor {
  readonly text: string;
  at: number;
}

/** Error at the cursor; undefined if there is none. */
export type SyntaxMessage = string | undefined;

/**
 * Properties of a valid string or number that the caller must handle, as other parsers may read the token differently.
 */
export interface Token {
  escaped?: true;
  loneSurrogate?: true;
  lossy?: true;
  /** Larger than any double. */
  infinite?: true;
}

const plainToken: Token = {};

/**
 * Reads a string from its opening quote. The raw text was valid UTF-8, so only escapes can produce a lone surrogate.
 */
export function readString(cursor: Cursor): Token | string {
  const { text } = cursor;
  let token = plainToken;
  let at = cursor.at + 1;
  for (let code = text.charCodeAt(at); code !== 0x22; code = text.charCodeAt(at)) {
    if (code >= 0x20 && code !== 0x5c) {
      at += 1;
      continue;
    }
    cursor.at = at;
    if (code !== 0x5c) return at < text.length ? "Unescaped control character in a string" : "Unterminated string";
    const unit = escapedUnit(text, at);
    if (unit === undefined) return "Invalid escape in a string";
    const isPair = isHigh(unit) && text[at + 6] === "\\" && isLow(escapedUnit(text, at + 6));
    if (token === plainToken) token = { escaped: true };
    if ((isHigh(unit) || isLow(unit)) && !isPair) token.loneSurrogate = true;
    at += isPair ? 12 : text[at + 1] === "u" ? 6 : 2;
  }
  cursor.at = at + 1;
  return token;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number | undefined): boolean {
  return unit !== undefined && unit >= 0xdc00 && unit <= 0xdfff;
}

/** The UTF-16 unit of the \u escape at `at`, or 0 for a short escape; undefined if the escape is invalid. */
function escapedUnit(text: string, at: number): number | undefined {
  const letter = text[at + 1];
  if (letter === undefined || !'"\\/bfnrtu'.includes(letter)) return undefined;
  if (letter !== "u") return 0;
  const hex = text.slice(at + 2, at + 6);
  return /^[0-9A-Fa-f]{4}$/.test(hex) ? Number.parseInt(hex, 16) : undefined;
}

export function readNumber(cursor: Cursor): Token | string {
  const { text } = cursor;
  const start = cursor.at;
  if (text[cursor.at] === "-") cursor.at += 1;
  const whole = cursor.at;
  if (!skipDigits(cursor)) return whole === start ? "Expected a value" : "Expected a digit";
  const digits = cursor.at - whole;
  if (text[whole] === "0" && digits > 1) {
    cursor.at = whole + 1;
    return "Unexpected digit after a leading 0";
  }
  let isInteger = true;
  if (text[cursor.at] === ".") {
    isInteger = false;
    cursor.at += 1;
    if (!skipDigits(cursor)) return "Expected a digit";
  }
  if (text[cursor.at] === "e" || text[cursor.at] === "E") {
    isInteger = false;
    cursor.at += 1;
    if (text[cursor.at] === "+" || text[cursor.at] === "-") cursor.at += 1;
    if (!skipDigits(cursor)) return "Expected a digit";
  }
  // Integers of up to 15 digits always fit a double; that covers nearly every number.
  if (isInteger && digits <= 15) return plainToken;
  const literal = text.slice(start, cursor.at);
  if (!Number.isFinite(Number(literal))) return { infinite: true };
  return !isInteger || fitsDouble(literal) ? plainToken : { lossy: true };
}

/**
 * True if an integer survives as a double: its value is exact, or the text is how JavaScript writes that double (2 **
 * 60 is written 1152921504606847000). Longer integers are refused first: BigInt is slow on long input, and the largest
 * double has 309 digits.
 */
function fitsDouble(integer: string): boolean {
  if (integer.length > 310) return false;
  const double = Number(integer);
  return String(double) === integer || BigInt(integer) === BigInt(double);
}

export function readLiteral(cursor: Cursor, word: "true" | "false" | "null"): Token | string {
  if (!cursor.text.startsWith(word, cursor.at)) return "Expected a value";
  cursor.at += word.length;
  return plainToken;
}

export function skipSpace(cursor: Cursor): void {
  let code = cursor.text.charCodeAt(cursor.at);
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
    cursor.at += 1;
    code = cursor.text.charCodeAt(cursor.at);
  }
}

function skipDigits(cursor: Cursor): boolean {
  const start = cursor.at;
  let code = cursor.text.charCodeAt(cursor.at);
  while (code >= 0x30 && code <= 0x39) {
    cursor.at += 1;
    code = cursor.text.charCodeAt(cursor.at);
  }
  return cursor.at > start;
}
