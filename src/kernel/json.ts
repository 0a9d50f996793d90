export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For documents that are hashed or stored: leaves out undefined members and keeps the order of the others. */
export function withoutUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** Number of JSON values in a value: itself, and those inside it. 0 for undefined. */
export function countNodes(value: unknown): number {
  if (value === undefined) return 0;
  let nodes = 0;
  const todo = [value];
  while (todo.length > 0) {
    const next = todo.pop();
    nodes += 1;
    if (typeof next === "object" && next !== null) for (const member of Object.values(next)) todo.push(member);
  }
  return nodes;
}

export type JsonObject = Record<string, unknown>;

/** Ignores inherited members: a publisher's document may use names such as `constructor`, or leave them out. */
export function ownMember(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
