import type { Imported, ImportFault } from "../formats/imported.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { ServerRef } from "../kernel/names.ts";
import { type Pace, readingUnits, type Steps } from "../kernel/pace/pace.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type StrictJson, strictJsonSteps } from "../kernel/strict-json.ts";
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
  pace: Pace,
): Promise<Result<Published, Failure>> {
  const document = await pace.run(documentSteps(manifest, services.config.bounds.depth));
  if (!document.ok) return document;
  const options: PublishOptions = { partial, dryRun, onlyNamedSections: true, placement: { by: "push" } };
  const published = await publishDocument(services, ref, writer, document.value, options, pace);
  return published.ok ? ok({ ...published.value, warnings: [...warnings, ...published.value.warnings] }) : published;
}

/** Why a document cannot be imported, and where. */
export function importFailure({ isIncomplete, ...fault }: ImportFault): Failure {
  const { message, line, column, path: at } = fault;
  const where = line === undefined ? "" : ` at line ${line}, column ${column}`;
  const place = at === undefined || at === "" ? "" : ` at ${at}`;
  const code = isIncomplete || fault.bound !== undefined ? "ErrorMCPServerValidation" : "ErrorInvalidBody";
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
function* documentSteps(manifest: Record<string, unknown>, maxDepth: number): Steps<Result<StrictJson, Failure>> {
  const text = yield* stringifySteps(manifest);
  const read = yield* strictJsonSteps(new TextEncoder().encode(text), { maxDepth });
  return read.ok ? read : err(failure("ErrorInvalidBody", `The document cannot be published: ${read.error.message}`));
}

/** `JSON.stringify`, one item of a section at a time. */
function* stringifySteps(manifest: Record<string, unknown>): Steps<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(manifest)) {
    if (value === undefined) continue;
    const items: string[] = [];
    for (const item of Array.isArray(value) ? value : [value]) {
      const text = JSON.stringify(item) ?? "null";
      items.push(text);
      yield readingUnits(text.length);
    }
    members.push(`${JSON.stringify(name)}:${Array.isArray(value) ? `[${items.join(",")}]` : items.join("")}`);
  }
  return `{${members.join(",")}}`;
}

function importedItem({ kind, key, id, tokens, flags, text }: PreparedCapability) {
  const deprecated = deprecationOfText(text);
  return { kind, name: key, id, registry: recordOf({ tokens, flags, deprecated }, { status: "active" }) };
}
