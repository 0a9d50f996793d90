/** A state that comes back through the client: signed, so that what it changed is noticed. */
const secret = new TextEncoder().encode("a secret of the conformance run alone");

async function signatureOf(state: string): Promise<string> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(state));
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function signed(state: string): Promise<string> {
  return `${state}.${await signatureOf(state)}`;
}

/** Undefined for anything that was not signed here. */
export async function verified(text: unknown): Promise<string | undefined> {
  const [state = "", signature] = String(text).split(".");
  return signature === (await signatureOf(state)) ? state : undefined;
}
