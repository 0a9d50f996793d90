import { importGraphqlIntrospection, importGraphqlSdl } from "../formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../formats/imported.ts";
import { mcpSteps } from "../formats/mcp/import-mcp.ts";
import { openApiSteps } from "../formats/openapi/import-openapi.ts";
import { rtfsSteps } from "../formats/rtfs/index.ts";
import { mediaType, readDocument, readText } from "../http/body.ts";
import type { RequestContext } from "../http/context.ts";
import { requestError } from "../http/context.ts";
import { importBounds } from "../kernel/bounds.ts";
import type { Failure } from "../kernel/failure.ts";
import type { Pace } from "../kernel/pace/pace.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { RegistryDeps } from "./deps.ts";
import { importFailure } from "./import.ts";

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
  pace: Pace,
) => Promise<Result<Imported, ImportFault>>;

/** Parsed input of an importer, with warnings about it. */
interface PlainData {
  value: unknown;
  /** Size of the body. */
  documentBytes: number;
  warnings: string[];
}

export const importFormats = ["rtfs", "openapi", "graphql", "mcp"] as const;
export type ImportFormat = (typeof importFormats)[number];

const rtfsEndpoint = "endpointUrl is for OpenAPI, GraphQL and MCP; RTFS says of each capability where it is called";

const importers: Record<ImportFormat, Importer> = {
  rtfs: async (c, _, { sourceUrl, endpointUrl }, pace) => {
    if (endpointUrl !== undefined) throw requestError("ErrorBadRequest", rtfsEndpoint);
    return pace.run(rtfsSteps(await readText(c, importBounds.rtfsBytes, "rtfsBytes"), { sourceUrl }));
  },
  openapi: async (c, services, origin, pace) => {
    const { manifestBytes } = services.config.bounds;
    const { value, documentBytes, warnings } = await plainData(c, services, pace);
    return warned(await pace.run(openApiSteps(value, { ...origin, documentBytes, manifestBytes })), warnings);
  },
  graphql: async (c, services, origin, pace) => {
    const { manifestBytes } = services.config.bounds;
    if (!/json$/.test(mediaType(c))) {
      const text = await readText(c, importBounds.sdlBytes, "sdlBytes");
      return importGraphqlSdl(text, { ...origin, documentBytes: text.length, manifestBytes }, pace);
    }
    const { value, documentBytes, warnings } = await plainData(c, services, pace);
    return warned(await importGraphqlIntrospection(value, { ...origin, documentBytes, manifestBytes }, pace), warnings);
  },
  mcp: async (c, services, { server, sourceUrl, endpointUrl }, pace) => {
    const { value, warnings } = await plainData(c, services, pace);
    return warned(await pace.run(mcpSteps(value, { server, sourceUrl, serverUrl: endpointUrl })), warnings);
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
  pace: Pace,
): Promise<Result<Imported, Failure>> {
  const imported = await importers[format](c, services, origin, pace);
  return imported.ok ? imported : err(importFailure(imported.error));
}

/**
 * Reads JSON or YAML and rejects damaged documents: the meaning of a repeated key would be a guess. A number that does
 * not fit a double passes with a warning, because real documents have such numbers in their examples.
 */
async function plainData(c: RequestContext, { config: { bounds } }: RegistryDeps, pace: Pace): Promise<PlainData> {
  const limits = { bytes: bounds.importBytes, bound: "importBytes" as const, depth: bounds.depth };
  const { value, issues, bytes: documentBytes } = await readDocument(c, limits, pace);
  const damage = issues.filter(({ rule }) => rule !== "lossy-number");
  const [first] = damage;
  if (first !== undefined) throw requestError("ErrorInvalidBody", `${first.path} ${first.message}`, { issues: damage });
  return { value, documentBytes, warnings: issues.map(({ path: at, message }) => `${at} ${message}`.trim()) };
}

function warned(imported: Result<Imported, ImportFault>, warnings: string[]): Result<Imported, ImportFault> {
  if (!imported.ok || warnings.length === 0) return imported;
  return ok({ ...imported.value, warnings: [...warnings, ...imported.value.warnings] });
}
