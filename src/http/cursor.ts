import { base64url } from "jose";
import { canonicalJson } from "../kernel/digest.ts";
import { readJson } from "../kernel/read-json.ts";

/** Sort key after which the next page starts, and the generation at which the first page was read. */
export interface Position {
  after: string[];
  generation: number;
}

/**
 * Keyset cursors: signed, so that clients cannot forge a position, and bound to caller, query and order (`scope`), so
 * that the cursor of one list is invalid for any other.
 */
export class Cursors {
  readonly #secret: Uint8Array;
  #key: Promise<CryptoKey> | undefined;
  /** Cursors written last, by what they say: pages of one list that differ in what they show have the same cursor. */
  readonly #written = new Map<string, string>();

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  async write(position: Position, scope: unknown): Promise<string> {
    const said = JSON.stringify([position.after, position.generation]);
    const key = `${said} ${JSON.stringify(scope)}`;
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    const payload = new TextEncoder().encode(said);
    const signature = await crypto.subtle.sign("HMAC", await this.#hmac(), signedBytes(payload, scope));
    const start = new Uint8Array(signature, 0, signatureBytes);
    const cursor = `${base64url.encode(payload)}.${base64url.encode(start)}`;
    if (this.#written.size === maxWritten) this.#written.clear();
    if (key.length <= longestWritten) this.#written.set(key, cursor);
    return cursor;
  }

  /** undefined unless this deployment made the cursor for the same scope. */
  async read(cursor: string, scope: unknown): Promise<Position | undefined> {
    const [payload, signature, ...rest] = cursor.split(".").map(decode);
    if (payload === undefined || signature?.byteLength !== signatureBytes || rest.length > 0) return undefined;
    const expected = await crypto.subtle.sign("HMAC", await this.#hmac(), signedBytes(payload, scope));
    if (!constantTimeEqual(new Uint8Array(expected).slice(0, signatureBytes), signature)) return undefined;
    const [after, generation] = readJson(new TextDecoder().decode(payload)) as [string[], number];
    return { after, generation };
  }

  #hmac(): Promise<CryptoKey> {
    // A small deployment signs tokens with the same secret; a derived key separates the two uses.
    this.#key ??= crypto.subtle
      .importKey("raw", this.#secret, "HKDF", false, ["deriveKey"])
      .then((base) =>
        crypto.subtle.deriveKey(
          { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: new TextEncoder().encode("rollcall cursor") },
          base,
          { name: "HMAC", hash: "SHA-256", length: 256 },
          false,
          ["sign"],
        ),
      );
    return this.#key;
  }
}

const signatureBytes = 16;
const maxWritten = 64;
const longestWritten = 2_048;

function signedBytes(payload: Uint8Array, scope: unknown): Uint8Array {
  return new TextEncoder().encode(`${base64url.encode(payload)} ${canonicalJson(scope)}`);
}

function decode(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]{1,4096}$/.test(text)) return undefined;
  try {
    return base64url.decode(text);
  } catch {
    return undefined;
  }
}

/** Constant-time comparison. */
function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.byteLength ^ b.byteLength;
  for (let at = 0; at < a.byteLength; at += 1) difference |= (a[at] ?? 0) ^ (b[at] ?? 0);
  return difference === 0;
}
