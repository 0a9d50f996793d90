import type { DirectoryEntry } from "../registry/contract.ts";
import type { ServerVersion } from "./contract.ts";

/** A version as the official registry's API answers it. The first key of `_meta` takes no members but these. */
export interface ServerResponse {
  server: Record<string, unknown>;
  _meta: {
    "io.modelcontextprotocol.registry/official": Record<string, unknown>;
    "dev.rollcall/registry"?: Record<string, unknown>;
  };
}

/** Our own data goes with the latest version alone: it is about what the server can do now. */
export function serverResponse(version: ServerVersion & { entry?: DirectoryEntry }, origin: string): ServerResponse {
  const { document, status, statusMessage, statusChangedAt, publishedAt, updatedAt, isLatest, entry } = version;
  return {
    server: JSON.parse(document) as Record<string, unknown>,
    _meta: {
      "io.modelcontextprotocol.registry/official": {
        status,
        statusMessage,
        statusChangedAt,
        publishedAt,
        updatedAt,
        isLatest,
      },
      ...(entry === undefined || !isLatest ? {} : { "dev.rollcall/registry": ownData(entry, origin) }),
    },
  };
}

function ownData(entry: DirectoryEntry, origin: string): Record<string, unknown> {
  const { tenant, name, digest, generation, counts, tokens } = entry;
  return {
    digest,
    generation,
    counts,
    tokens,
    capabilities: `${origin}/api/mcp/capabilities/${tenant}/${name}`,
  };
}
