import { importGraphqlIntrospection, importGraphqlSdl } from "../formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../formats/imported.ts";
import { importMcp } from "../formats/mcp/import-mcp.ts";
import { importOpenApi } from "../formats/openapi/import-openapi.ts";
import { importRtfs } from "../formats/rtfs/index.ts";
import { mediaType, readDocument, readText } from "../http/body.ts";
import type { RequestContext } from "../http/context.ts";
import { requestError } from "../http/context.ts";
import type { Failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { RegistryDeps } from "./deps.ts";
import { importFailure } from "./import.ts";

/** Large enough for real API descriptions, small enough to parse quickly. */
const yamlBytes = 4 * 1024 * 1024;

/** What is known of a document beside its text. The URLs are free of secrets. */
export interface ImportOrigin {
  server: string;
  sourceUrl?: string | undefined;
  endpointUrl?: string | undefined;
}

type Importer = (
  c: RequestContext,
  services: RegistryDeps,
  origin: ImportOrigin,
) => Promise<Result<Imported, ImportFault>>;

/** Parsed input of an importer, with warnings about it. */
interface PlainData {
  value: unknown;
  warnings: string[];
}

export const importFormats = ["rtfs", "openapi", "graphql", "mcp"] as const;
export type ImportFormat = (typeof importFormats)[number];

const rtfsEndpoint = "endpointUrl is for OpenAPI, GraphQL and MCP; RTFS says of each capability where it is called";

const importers: Record<ImportFormat, Importer> = {
  rtfs: async (c, services, { sourceUrl, endpointUrl }) => {
    if (endpointUrl !== undefined) throw requestError("ErrorBadRequest", rtfsEndpoint);
    return importRtfs(await readText(c, services.config.bounds.importBytes), { sourceUrl });
  },
  openapi: async (c, services, origin) => {
    const { value, warnings } = await plainData(c, services);
    return warned(importOpenApi(value, origin), warnings);
  },
  graphql: async (c, services, origin) => {
    if (!/json$/.test(mediaType(c))) {
      return importGraphqlSdl(await readText(c, services.config.bounds.importBytes), origin);
    }
    const { value, warnings } = await plainData(c, services);
    return warned(await importGraphqlIntrospection(value, origin), warnings);
  },
  mcp: async (c, services, { server, sourceUrl, endpointUrl }) => {
    const { value, warnings } = await plainData(c, services);
    return warned(importMcp(value, { server, sourceUrl, serverUrl: endpointUrl }), warnings);
  },
};

/**
 * Reads a document of another format from the body and prepares the manifest that it describes. Items that are not valid
 * are left out and reported.
 */
export async function readImport(
  c: RequestContext,
  services: RegistryDeps,
  origin: ImportOrigin,
  format: ImportFormat,
): Promise<Result<Imported, Failure>> {
  const imported = await importers[format](c, services, origin);
  return imported.ok ? imported : err(importFailure(imported.error));
}

/**
 * Reads JSON or YAML and rejects damaged documents: the meaning of a repeated key would be a guess. A number that does
 * not fit a double passes with a warning, because real documents have such numbers in their examples.
 */
async function plainData(c: RequestContext, { config: { bounds } }: RegistryDeps): Promise<PlainData> {
  const { value, issues } = await readDocument(c, { bytes: bounds.importBytes, depth: bounds.depth, yamlBytes });
  const damage = issues.filter(({ rule }) => rule !== "lossy-number");
  const [first] = damage;
  if (first !== undefined) throw requestError("ErrorInvalidBody", `${first.path} ${first.message}`, { issues: damage });
  if (issues.length > 0 && !allFinite(value))
    throw requestError("ErrorInvalidBody", "A number in the document is too large for JSON (over 1.8e308)");
  return { value, warnings: issues.map(({ path: at, message }) => `${at} ${message}`.trim()) };
}

/** A rounded number only gets a warning, but one that became infinite cannot be written as JSON. */
function allFinite(value: unknown): boolean {
  let finite = true;
  JSON.stringify(value, (_, member) => {
    if (typeof member === "number" && !Number.isFinite(member)) finite = false;
    return member;
  });
  return finite;
}

function warned(imported: Result<Imported, ImportFault>, warnings: string[]): Result<Imported, ImportFault> {
  if (!imported.ok || warnings.length === 0) return imported;
  return ok({ ...imported.value, warnings: [...warnings, ...imported.value.warnings] });
}
