/** Decodes padded base64; undefined if the text is empty or not the canonical encoding of its bytes. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return encodeBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
