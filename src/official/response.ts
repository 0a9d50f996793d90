import { digestOfText } from "../kernel/digest.ts";
import { readJson } from "../kernel/read-json.ts";
import type { DirectoryEntry } from "../registry/contract.ts";
import { entryRecord } from "../registry/record.ts";
import type { ServerResponse } from "./answer-schema.ts";
import type { ServerVersion } from "./contract.ts";
import type { ServerJson } from "./schema.ts";

/** The text of an answer, with a tag made from it. */
export async function withEtag<Data>(data: Data) {
  const text = JSON.stringify(data);
  const etag = `W/"${(await digestOfText(text)).slice(7, 39)}"`;
  return { text, meta: { source: "object", etag } as const };
}

/** Only the latest version includes Rollcall's own data, which describes the server's current capabilities. */
export function serverResponse(version: ServerVersion & { entry?: DirectoryEntry }, origin: string): ServerResponse {
  const { document, status, statusMessage, statusChangedAt, publishedAt, updatedAt, isLatest, entry } = version;
  return {
    server: readJson(document) as ServerJson,
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

function ownData(entry: DirectoryEntry, origin: string): ServerResponse["_meta"]["dev.rollcall/registry"] {
  const { tenant, name, digest, generation, counts } = entry;
  return {
    digest,
    generation,
    counts,
    ...entryRecord(entry),
    capabilities: `${origin}/api/mcp/capabilities/${tenant}/${name}`,
  };
}
