import type { Imported, ImportFault } from "../formats/imported.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { ServerRef } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseStrictJson, type StrictJson } from "../kernel/strict-json.ts";
import { deprecationOfText } from "../manifest/deprecation.ts";
import type { PreparedCapability } from "../manifest/prepare.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { type Published, type PublishOptions, publishDocument } from "./publish.ts";
import { recordOf } from "./record.ts";

/**
 * Publishes what an importer made of a document of another format. Such a document speaks of some sections only, so only
 * these change.
 */
export async function publishImported(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  { manifest, warnings }: Imported,
  { partial, dryRun }: Pick<PublishOptions, "partial" | "dryRun">,
): Promise<Result<Published, Failure>> {
  const document = asDocument(manifest, services.config.bounds.depth);
  if (!document.ok) return document;
  const published = await publishDocument(services, ref, writer, document.value, {
    ...{ partial, dryRun, onlyNamedSections: true },
    placement: { by: "push" },
  });
  return published.ok ? ok({ ...published.value, warnings: [...warnings, ...published.value.warnings] }) : published;
}

/** Why a document cannot be imported, and where. */
export function importFailure({ isIncomplete, ...fault }: ImportFault): Failure {
  const { message, line, column, path: at } = fault;
  const where = line === undefined ? "" : ` at line ${line}, column ${column}`;
  const place = at === undefined || at === "" ? "" : ` at ${at}`;
  const code = isIncomplete ? "ErrorMCPServerValidation" : "ErrorInvalidBody";
  return failure(code, `${message}${where}${place}`, { ...fault });
}

/** What was imported, by kind; after a dry run item by item too. */
export function importedItems({ capabilities }: Published, dryRun: boolean) {
  const counts: Partial<Record<CapabilityKind, number>> = {};
  for (const { kind } of capabilities) counts[kind] = (counts[kind] ?? 0) + 1;
  return { counts, capabilities: dryRun ? capabilities.map(importedItem) : undefined };
}

/**
 * Parses an importer's manifest as strictly as a published one: other formats allow keys that the strict JSON parser
 * forbids.
 */
function asDocument(manifest: Record<string, unknown>, maxDepth: number): Result<StrictJson, Failure> {
  const read = parseStrictJson(new TextEncoder().encode(JSON.stringify(manifest)), { maxDepth });
  return read.ok ? read : err(failure("ErrorInvalidBody", `The document cannot be published: ${read.error.message}`));
}

function importedItem({ kind, key, id, tokens, flags, text }: PreparedCapability) {
  const deprecated = deprecationOfText(text);
  return { kind, name: key, id, registry: recordOf({ tokens, flags, deprecated }, { status: "active" }) };
}
