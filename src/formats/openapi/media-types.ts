export const formType = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

const jsonType = /^[\w.+-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
/** Ranges that JSON is part of. */
const wideType = /^(?:\*|application)\/\*/;

export function isJson(type: string): boolean {
  return jsonType.test(type) || wideType.test(type);
}

/** The entry for JSON, or for a range that JSON is part of. */
export function jsonFirst<T>(contents: readonly [string, T][]): [string, T] | undefined {
  return contents.find(([type]) => jsonType.test(type)) ?? contents.find(([type]) => wideType.test(type));
}
