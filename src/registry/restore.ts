import { type Failure, failure } from "../kernel/failure.ts";
import { Digest, type ServerRef } from "../kernel/names.ts";
import { err, type Result } from "../kernel/result.ts";
import { sectionForKind, sectionNames } from "../manifest/schema/manifest.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import type { Writer } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { type Published, type PublishOptions, publishDocument } from "./publish.ts";
import { declaredItem } from "./views/enabled.ts";

/**
 * Makes an earlier revision of a server current again: what was pushed and registered then. What its sources offer is
 * theirs to change, and stays as it is.
 */
export async function restoreRevision(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  digest: string,
  { partial, dryRun }: Pick<PublishOptions, "partial" | "dryRun">,
): Promise<Result<Published, Failure>> {
  const parsed = Digest.safeParse(digest);
  if (!parsed.success) return err(failure("ErrorBadRequest", `digest ${parsed.error.issues[0]?.message}`));
  const { head, revision } = await services.tenant(ref.tenant).revision(ref.name, digest);
  if (head === undefined || head.deleted) return err(failure("ErrorMCPServerNotFound"));
  const body = revision && (await services.bodies.get(ref, digest));
  if (body === undefined) return err(failure("ErrorRevisionNotFound"));
  const value = wholeManifest(body.manifest);
  return publishDocument(
    services,
    ref,
    writer,
    { value, issues: [] },
    {
      ...{ partial, dryRun, placement: { by: "restore", digest }, confirmed: Object.keys(value) },
    },
  );
}

/** A stored manifest as a document that names every section: what is not in it is meant to be absent. */
function wholeManifest({ header, capabilities }: StoredManifest): Record<string, unknown> {
  const items = Map.groupBy(capabilities, ({ kind }) => sectionForKind(kind));
  const lists = sectionNames.map((section) => [section, (items.get(section) ?? []).map(declaredItem)]);
  return { ...header, ...Object.fromEntries(lists) };
}
