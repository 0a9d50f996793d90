import { base64url } from "jose";
import { isObject } from "../kernel/json.ts";
import { ok, type Result } from "../kernel/result.ts";
import { parseStrictJson } from "../kernel/strict-json.ts";
import { fault, type TokenFault } from "./token-error.ts";

export interface JwsHeader {
  alg: string;
  kid?: string;
}

/** Real tokens are below 2 kB; longer tokens are refused before decoding. */
const maxTokenCharacters = 8_192;

/** Claims are values or lists of values; no claim in use is nested deeper. */
const maxDepth = 8;

/** Header members that name the key to trust or change what is signed. The verifier decides both, never the token. */
const refusedMembers = ["jwk", "jku", "x5u", "x5c", "crit", "b64"];

const acceptedTypes = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/**
 * Reads the header of a compact JWS before any key lookup. The library that checks the signature decodes leniently, so
 * that two different texts could pass as one token. Here each part has exactly one valid encoding.
 */
export function readHeader(token: string): Result<JwsHeader, TokenFault> {
  if (token.length > maxTokenCharacters) return fault("malformed", "the token is too long");
  const parts = token.split(".");
  if (parts.length !== 3) return fault("malformed", "a token has three parts separated by dots");
  const decoded = parts.map(decodeCanonical);
  const [header] = decoded;
  // An altered ending leaves bits over; to whoever sent the token, that is a signature that does not match.
  if (decoded[0] && decoded[1] && decoded[2] === undefined && /^[A-Za-z0-9_-]+$/.test(parts[2] ?? "")) {
    return fault("signature", "the signature does not match");
  }
  if (header === undefined || decoded.includes(undefined)) {
    return fault("malformed", "each part of a token is non-empty, unpadded base64url");
  }
  const members = readObject(header);
  if (members === undefined) return fault("malformed", "the header is not a JSON object without repeated members");

  if (refusedMembers.some((name) => Object.hasOwn(members, name))) {
    return fault("header", `the header must not have ${refusedMembers.join(", ")}`);
  }
  const { alg, kid, typ } = members;
  if (typeof alg !== "string") return fault("algorithm", "the header names no algorithm");
  if (typ !== undefined && (typeof typ !== "string" || !acceptedTypes.has(typ.toLowerCase()))) {
    return fault("header", "typ is not that of an access token");
  }
  if (kid === undefined) return ok({ alg });
  return typeof kid === "string" ? ok({ alg, kid }) : fault("header", "kid is not a string");
}

/**
 * Decodes unpadded base64url; undefined if the part has stray characters or leftover bits, so that only the canonical
 * encoding is accepted.
 */
function decodeCanonical(part: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  try {
    const bytes = base64url.decode(part);
    return base64url.encode(bytes) === part ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Parses a JSON object without duplicate members; undefined for anything else. */
export function readObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  const parsed = parseStrictJson(bytes, { maxDepth: maxDepth });
  if (!parsed.ok || parsed.value.issues.length > 0) return undefined;
  const { value } = parsed.value;
  return isObject(value) ? value : undefined;
}
