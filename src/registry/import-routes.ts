import { importGraphqlIntrospection, importGraphqlSdl } from "../formats/graphql/import-graphql.ts";
import type { Imported, ImportFault } from "../formats/imported.ts";
import { importMcp } from "../formats/mcp/import-mcp.ts";
import { importOpenApi } from "../formats/openapi/import-openapi.ts";
import { importRtfs } from "../formats/rtfs/index.ts";
import { mediaType, readDocument, readText } from "../http/body.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { booleanParam, readQuery, serverName, tenantName } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseStrictJson, type StrictJson } from "../kernel/strict-json.ts";
import { type CapabilityFlag, shownFlags } from "../manifest/flag.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { RegistryDeps } from "./deps.ts";
import { prepareDocument, publishPrepared } from "./publish.ts";
import { authorizeWrite, effectiveBy, writeMeta } from "./write.ts";

const path = "/api/import/:format";

/** Large enough for real API descriptions, small enough to parse quickly. */
const yamlBytes = 4 * 1024 * 1024;

type Importer = (c: RequestContext, services: RegistryDeps, server: string) => Promise<Result<Imported, ImportFault>>;

/** Parsed input of an importer, with warnings about it. */
interface PlainData {
  value: unknown;
  warnings: string[];
}

const importers: Record<string, Importer> = {
  rtfs: async (c, services, server) => importRtfs(await readText(c, services.config.bounds.importBytes), { server }),
  openapi: async (c, services, server) => {
    const { value, warnings } = await plainData(c, services);
    return warned(importOpenApi(value, { server }), warnings);
  },
  graphql: async (c, services, server) => {
    if (!/json$/.test(mediaType(c))) {
      return importGraphqlSdl(await readText(c, services.config.bounds.importBytes), { server });
    }
    const { value, warnings } = await plainData(c, services);
    return warned(await importGraphqlIntrospection(value, { server }), warnings);
  },
  mcp: async (c, services, server) => {
    const { value, warnings } = await plainData(c, services);
    return warned(importMcp(value, { server }), warnings);
  },
};

/**
 * Converts a document of another format into a manifest and publishes it; with `?dryRun=true` only shows the result.
 */
export function importsRoutes(app: App, services: RegistryDeps): void {
  const { bounds } = services.config;

  app.post(path, async (c) => {
    const query = readQuery(c, ["tenant", "name", "dryRun"]);
    const ref = { tenant: tenantName(query.tenant), name: serverName(query.name) };
    const writer = await authorizeWrite(c, services, ref.tenant);
    const dryRun = booleanParam("dryRun", query.dryRun);
    const importer = Object.hasOwn(importers, c.req.param("format")) ? importers[c.req.param("format")] : undefined;
    if (importer === undefined) {
      throw requestError(
        "ErrorNotFound",
        `There is no importer of that name; there are ${Object.keys(importers).join(", ")}`,
      );
    }
    const imported = await importer(c, services, ref.name);
    if (!imported.ok) {
      const { message, line, column, path: at } = imported.error;
      const where = line === undefined ? "" : ` at line ${line}, column ${column}`;
      const place = at === undefined || at === "" ? "" : ` at ${at}`;
      throw requestError("ErrorInvalidBody", `${message}${where}${place}`, { ...imported.error });
    }
    const { manifest, warnings } = imported.value;
    const prepared = unwrap(await prepareDocument(services, ref, unwrap(asDocument(manifest, bounds.depth)), true));
    if (prepared.capabilities.length === 0 && prepared.rejected.length > 0) {
      // If every item is rejected, publishing the rest would empty the server.
      const issues = prepared.rejected.flatMap(({ issues: reasons }) => reasons).slice(0, 100);
      throw requestError("ErrorMCPServerValidation", "Nothing in the document could be published", { issues });
    }
    const counts = countKinds(prepared.capabilities);
    if (dryRun) {
      const { digest, rejected, capabilities } = prepared;
      const ofItems = capabilities.flatMap(({ id, flags: own }) => own.map((flag) => ({ ...flag, capability: id })));
      const flags = shownFlags<CapabilityFlag>([...prepared.flags, ...ofItems]);
      const items = capabilities.map(({ kind, key, id, tokens }) => ({ kind, name: key, id, tokens }));
      return sendData(c, services, { dryRun, digest, counts, warnings, rejected, flags, capabilities: items });
    }
    const { head, narrowed, ...published } = unwrap(await publishPrepared(services, ref, writer, prepared, true));
    const until = narrowed ? { effectiveBy: effectiveBy(services.now()) } : {};
    const data = { ...published, counts, warnings, ...until };
    return sendData(c, services, data, writeMeta(head, published.outcome === "created" ? 201 : 200));
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
}

/**
 * Parses an importer's manifest as strictly as a published one: other formats allow keys that the strict JSON parser
 * forbids.
 */
function asDocument(manifest: Record<string, unknown>, maxDepth: number): Result<StrictJson, Failure> {
  const read = parseStrictJson(new TextEncoder().encode(JSON.stringify(manifest)), { maxDepth });
  return read.ok ? read : err(failure("ErrorInvalidBody", `The document cannot be published: ${read.error.message}`));
}

function countKinds(capabilities: readonly { kind: CapabilityKind }[]): Partial<Record<CapabilityKind, number>> {
  const counts: Partial<Record<CapabilityKind, number>> = {};
  for (const { kind } of capabilities) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
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
    throw requestError("ErrorInvalidBody", "A number is larger than any number can be");
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
