export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For documents that are hashed or stored: members that are undefined are left out, the others keep their order. */
export function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

export type JsonObject = Record<string, unknown>;

/** A member of the object itself: `constructor` and the like are names a publisher may use or leave out. */
export function ownMember(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
