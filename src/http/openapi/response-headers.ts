type Json = Record<string, unknown>;

/** Response headers that several operations have, as the document describes them. */
export const responseHeaders: Record<string, Json> = {
  ETag: { description: "Tag of the answer, for If-None-Match and If-Match.", schema: { type: "string" } },
  "Rollcall-Generation": {
    description: "The generation that the answer is as of: of the tenant, or of the directory.",
    schema: { type: "integer" },
  },
  "Rollcall-Directory": {
    description:
      "The state of everything public that the answer is as of, as `epoch.generation`: for `Rollcall-Min-Directory-Generation`. Of a write: a state that has it, if the directory confirmed it in time.",
    schema: { type: "string" },
  },
  "Rollcall-Source": {
    description: "Where the answer came from.",
    schema: { type: "string", enum: ["memory", "edge", "kv", "object"] },
  },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } },
  "WWW-Authenticate": { description: "What is missing: a token, a scope, a session.", schema: { type: "string" } },
};

export function headerRefs(names: readonly string[]): Json | undefined {
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
