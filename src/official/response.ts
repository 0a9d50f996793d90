import { readJson } from "../kernel/read-json.ts";
import type { DirectoryEntry } from "../registry/contract.ts";
import type { ServerVersion } from "./contract.ts";

/**
 * A version in a response of the official registry's API. The official schema allows no other members under the first
 * key of `_meta`.
 */
interface ServerResponse {
  server: Record<string, unknown>;
  _meta: {
    "io.modelcontextprotocol.registry/official": Record<string, unknown>;
    "dev.rollcall/registry"?: Record<string, unknown>;
  };
}

/** Only the latest version includes Rollcall's own data, which describes the server's current capabilities. */
export function serverResponse(version: ServerVersion & { entry?: DirectoryEntry }, origin: string): ServerResponse {
  const { document, status, statusMessage, statusChangedAt, publishedAt, updatedAt, isLatest, entry } = version;
  return {
    server: readJson(document) as Record<string, unknown>,
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
