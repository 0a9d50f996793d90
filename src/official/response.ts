import { digestOfText } from "../kernel/digest.ts";
import { readJson } from "../kernel/read-json.ts";
import { type Flag, shownFlags } from "../manifest/flag.ts";
import type { DirectoryEntry } from "../registry/contract.ts";
import { entryRecord } from "../registry/record.ts";
import type { ServerResponse } from "./answer-schema.ts";
import type { ServerVersion } from "./contract.ts";
import type { ServerJson } from "./schema.ts";

/** The text of an answer, with a tag made from it. */
export async function withEtag<Data>(data: Data) {
  const text = JSON.stringify(data);
  return { text, meta: { source: "object", etag: await etagOf(text) } as const };
}

export async function etagOf(text: string): Promise<string> {
  return `W/"${(await digestOfText(text)).slice(7, 39)}"`;
}

type ShownVersion = ServerVersion & { entry?: DirectoryEntry };

export function serverResponse(version: ShownVersion, origin: string): ServerResponse {
  return { server: readJson(version.document) as ServerJson, _meta: metaOf(version, origin) };
}

/** The same as text. Documents are stored as JSON text, so that reading does not parse them. */
export function serverResponseText(version: ShownVersion, origin: string): string {
  return `{"server":${version.document},"_meta":${JSON.stringify(metaOf(version, origin))}}`;
}

/** The latest version includes what is known of the server now, the others what is known of their own text. */
function metaOf(version: ShownVersion, origin: string): ServerResponse["_meta"] {
  const { status, statusMessage, statusChangedAt, publishedAt, updatedAt, isLatest, entry, flags } = version;
  return {
    "io.modelcontextprotocol.registry/official": {
      status,
      statusMessage,
      statusChangedAt,
      publishedAt,
      updatedAt,
      isLatest,
    },
    "dev.rollcall/registry":
      entry === undefined || !isLatest
        ? { flags: shownFlags(flags), status: status === "deleted" ? "withdrawn" : status, statusMessage }
        : ownData(entry, flags, origin),
  };
}

function ownData(
  entry: DirectoryEntry,
  ofDocument: readonly Flag[],
  origin: string,
): ServerResponse["_meta"]["dev.rollcall/registry"] {
  const { tenant, name, digest, generation, counts } = entry;
  const { flags, ...record } = entryRecord(entry);
  // A version's text is in the manifest too, until someone publishes another there.
  const known = new Set(flags.map(({ rule, path }) => `${rule} ${path}`));
  const others = shownFlags(ofDocument.filter(({ rule, path }) => !known.has(`${rule} ${path}`)));
  return {
    ...{ digest, generation, counts, ...record },
    flags: [...flags, ...others],
    capabilities: `${origin}/api/catalog/${tenant}/${name}`,
  };
}
