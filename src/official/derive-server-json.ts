import { withoutSecrets } from "../formats/mcp/describe-item.ts";
import { withoutUndefined } from "../kernel/json.ts";
import type { ServerConfig } from "../registry/schema.ts";
import { isVersionRange, semanticIssues } from "./rules.ts";
import {
  OfficialIcon,
  Package,
  publisherProvided,
  Remote,
  Repository,
  ServerJson,
  serverJsonSchemaUri,
} from "./schema.ts";

/** Version of a server that declares none, or an invalid one. */
const noVersion = "0.0.0";

/** Size limit of a derived document; optional fields beyond the limit are left out. */
const maxCharacters = 65_536;

/**
 * Derives the server.json of a server without published versions from its settings and its manifest's header. Leaves
 * out fields without a valid form, because clients rely on every list entry being valid.
 */
export function serverJsonOf(
  config: ServerConfig,
  header: Record<string, unknown>,
  isPublicAddress: (url: string) => boolean,
): ServerJson {
  const name = `${config.tenant}/${config.name}`;
  const title = text(config.title) ?? text(header.title);
  const description = text(config.description) ?? text(header.description) ?? title ?? name;
  const base: ServerJson = withoutUndefined({
    $schema: serverJsonSchemaUri,
    name,
    description: clipped(description),
    version: versionOf(header),
    title: title === undefined ? undefined : clipped(title),
  });
  const optional: Record<string, unknown> = {
    websiteUrl: header.websiteUrl,
    repository: Repository.safeParse(header.repository).data,
    icons: valid(base, "icons", OfficialIcon, header.icons),
    packages: valid(base, "packages", Package, header.packages),
    remotes:
      valid(base, "remotes", Remote, header.remotes) ??
      valid(base, "remotes", Remote, remotesOf(config, isPublicAddress)),
    _meta: publisherMeta(header._meta),
  };
  let document = base;
  for (const [key, value] of Object.entries(optional)) {
    if (value === undefined) continue;
    const next = { ...document, [key]: value };
    if (JSON.stringify(next).length <= maxCharacters && isValid(next, key)) document = next;
  }
  return document;
}

function versionOf({ version, serverInfo }: Record<string, unknown>): string {
  const said = text(version) ?? text((serverInfo as { version?: unknown } | undefined)?.version);
  if (said === undefined || said.length > 255 || said.toLowerCase() === "latest") return noVersion;
  return isVersionRange(said) || [".", ".."].includes(said) ? noVersion : said;
}

/** Sources that anyone may call: no credential, a public address, no secret in the URL. */
function remotesOf({ sources = [] }: ServerConfig, isPublicAddress: (url: string) => boolean): Remote[] | undefined {
  const remotes = sources.flatMap(({ type, url, credential }) => {
    if (type === "stdio" || url === undefined || credential !== undefined) return [];
    return isPublicAddress(url) && withoutSecrets(url) === url ? [{ type, url }] : [];
  });
  return remotes.length === 0 ? undefined : remotes;
}

function publisherMeta(meta: unknown): Record<string, unknown> | undefined {
  const said = (meta as Record<string, unknown> | undefined)?.[publisherProvided];
  return said === undefined ? undefined : { [publisherProvided]: said };
}

interface Schema {
  safeParse(value: unknown): { success: boolean };
}

/** The items that are valid by themselves; undefined if there are none. */
function valid(base: ServerJson, key: string, schema: Schema, items: unknown): unknown[] | undefined {
  const taken = Array.isArray(items)
    ? items.filter((item) => schema.safeParse(item).success && isValid({ ...base, [key]: [item] }, key))
    : [];
  return taken.length === 0 ? undefined : taken;
}

/** True if the document is valid, its name apart: that is what it is. */
function isValid(document: ServerJson, key: string): boolean {
  if (!ServerJson.safeParse(document).success) return false;
  return semanticIssues(document).every(({ path }) => !path.startsWith(`/${key}`));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

const maxTextCharacters = 100;

function clipped(value: string): string {
  const all = Array.from(value);
  return all.length <= maxTextCharacters
    ? value
    : `${all
        .slice(0, maxTextCharacters - 1)
        .join("")
        .trimEnd()}…`;
}
