import { CapabilityKind } from "./schema/capability.ts";

/**
 * Default id of a capability: `{provider}.{server}.{name}`. Dots and other unusual characters within a part are escaped
 * as `~` and hex, so the text after the last dot is always the name. For kinds other than tools and operations the kind
 * precedes the name, because a prompt may share its name with a tool.
 */
export function defaultCapabilityId(server: string, kind: CapabilityKind, key: string, provider?: string): string {
  const name = kind === "tool" || kind === "operation" ? escapePart(key) : `${kind}:${escapePart(key)}`;
  return `${escapePart((provider ?? "mcp").toLowerCase())}.${escapePart(server)}.${name}`;
}

const encoder = new TextEncoder();

function escapePart(part: string): string {
  return part.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    Array.from(encoder.encode(character), (byte) => `~${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/** Where an item is: no two items of a tenant are at one place. */
export interface ItemPlace {
  server: string;
  kind: CapabilityKind;
  key: string;
}

/** Kinds that precede a name. */
const otherKinds = CapabilityKind.options.filter((kind) => kind !== "tool" && kind !== "operation");

/**
 * Where an item is that has this id if nothing says another; undefined if no item would get it. An operation has the id
 * that a tool of its name would have, and is not found by this.
 */
export function placeOfId(id: string): ItemPlace | undefined {
  const parts = id.split(".");
  if (parts.length !== 3) return undefined;
  const [, serverPart = "", name = ""] = parts;
  const colon = name.indexOf(":");
  const server = unescapePart(serverPart);
  const key = unescapePart(name.slice(colon + 1));
  if (server === undefined || key === undefined) return undefined;
  const kind = colon < 0 ? "tool" : otherKinds.find((option) => option === name.slice(0, colon));
  return kind === undefined ? undefined : { server, kind, key };
}

/** True if the id says where its item is. */
export function isIdOfPlace(id: string, { server, kind, key }: ItemPlace): boolean {
  const place = placeOfId(id);
  return place !== undefined && place.server === server && place.kind === kind && place.key === key;
}

/** The text that `escapePart` makes this of; undefined if there is none. */
function unescapePart(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part.replaceAll("~", "%"));
    return escapePart(text) === part ? text : undefined;
  } catch {
    return undefined;
  }
}
