import type { CapabilityKind } from "../schemas/capability.ts";

/**
 * The id of a capability that declares none: `{provider}.{server}.{name}`. Dots and anything unusual inside a part are
 * escaped as `~` and hex, so what follows the last dot is always the name. Kinds other than tools and operations carry
 * their kind in the last part, because a prompt may share its name with a tool.
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
