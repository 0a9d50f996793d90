const digest = { type: "string", pattern: "^sha256-[0-9a-f]{64}$" };
const count = { type: "integer", minimum: 0 };
const rules = { type: "array", items: { type: "string" } };

export const lockFileSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "lock-file.schema.json",
  title: "rollcall.lock.json",
  description: "What was reviewed of which servers, by digest. Written by rollcall pin, checked by rollcall verify.",
  type: "object",
  properties: {
    lockfileVersion: { const: 1 },
    registry: { type: "string", pattern: "^https?://", description: "Address of the registry." },
    servers: {
      type: "object",
      description: "By tenant/name.",
      propertyNames: { pattern: "^[^/]+/[^/]+$" },
      additionalProperties: {
        type: "object",
        properties: {
          version: { type: "string" },
          digest: { ...digest, description: "Of the whole manifest; absent if only some items are pinned." },
          partial: { const: true },
          tokens: { ...count, description: "Cost of the definitions of the pinned items." },
          flags: { ...rules, description: "Rules of high flags about the server's own texts that were there." },
          capabilities: {
            type: "object",
            description: "By kind and name, such as tool:get_forecast.",
            propertyNames: { pattern: "^[A-Za-z]+:" },
            additionalProperties: {
              type: "object",
              properties: {
                digest,
                tokens: count,
                flags: { ...rules, description: "Rules of high flags that were there." },
              },
              required: ["digest", "tokens"],
              additionalProperties: false,
            },
          },
        },
        required: ["tokens", "capabilities"],
        additionalProperties: false,
      },
    },
    log: {
      type: "object",
      description: "The newest entry of each tenant's log, for members of the tenant.",
      additionalProperties: {
        type: "object",
        properties: { sequence: count, hash: { type: "string" } },
        required: ["sequence", "hash"],
        additionalProperties: false,
      },
    },
  },
  required: ["lockfileVersion", "registry", "servers"],
  additionalProperties: false,
};
