import { base64url } from "jose";
import type { JwsHeader } from "../../auth/jwt-header.ts";
import { readJson } from "../../kernel/read-json.ts";

/** What a sign-in keeps of the token: what it allows, until when, and the key that signed it. Never the token. */
export interface SignIn {
  subject: string;
  tenants: readonly string[];
  scopes: readonly string[];
  admin: boolean;
  /** Epoch seconds: the token's expiry, or the longest that a sign-in may last. */
  expiresAt: number;
  key: JwsHeader;
}

/** What a sealed text is for: one that was sealed for one purpose does not open for another. */
type Purpose = "sign-in" | "notice";

const ivBytes = 12;
const encoder = new TextEncoder();

/**
 * Seals what cookies keep with AES-GCM. The key is derived from the deployment's secrets, so what leaks to another
 * port of the same machine is of no use as a bearer token, and a new secret ends every sign-in.
 */
export class SignIns {
  readonly #secret: Uint8Array;
  readonly #salt: Uint8Array;
  #key: Promise<CryptoKey> | undefined;

  /** `salt`: the secret that tokens are signed with, if there is one besides. */
  constructor(secret: Uint8Array, salt: Uint8Array = new Uint8Array()) {
    this.#secret = secret;
    this.#salt = salt;
  }

  async seal(purpose: Purpose, value: unknown): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
    const text = encoder.encode(JSON.stringify(value));
    const sealed = await crypto.subtle.encrypt(algorithm(purpose, iv), await this.#aes(), text);
    const bytes = new Uint8Array(ivBytes + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), ivBytes);
    return base64url.encode(bytes);
  }

  /** undefined unless this deployment sealed the text. The expiry is for the caller to check. */
  async open<T>(purpose: Purpose, text: string): Promise<T | undefined> {
    if (!/^[A-Za-z0-9_-]{40,4096}$/.test(text)) return undefined;
    try {
      const bytes = base64url.decode(text);
      const iv = bytes.slice(0, ivBytes);
      const opened = await crypto.subtle.decrypt(algorithm(purpose, iv), await this.#aes(), bytes.slice(ivBytes));
      return readJson(new TextDecoder().decode(opened)) as T;
    } catch {
      return undefined;
    }
  }

  #aes(): Promise<CryptoKey> {
    this.#key ??= crypto.subtle
      .importKey("raw", this.#secret, "HKDF", false, ["deriveKey"])
      .then((base) =>
        crypto.subtle.deriveKey(
          { name: "HKDF", hash: "SHA-256", salt: this.#salt, info: encoder.encode("rollcall console") },
          base,
          { name: "AES-GCM", length: 256 },
          false,
          ["encrypt", "decrypt"],
        ),
      );
    return this.#key;
  }
}

function algorithm(purpose: Purpose, iv: Uint8Array) {
  return { name: "AES-GCM", iv, additionalData: encoder.encode(purpose) };
}
