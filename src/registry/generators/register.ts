import { type Failure, failure } from "../../kernel/failure.ts";
import type { ServerRef } from "../../kernel/names.ts";
import { err, type Result } from "../../kernel/result.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import { sectionForKind } from "../../manifest/schema/manifest.ts";
import type { StoredManifest } from "../../manifest/stored.ts";
import type { Writer } from "../contract.ts";
import type { RegistryDeps } from "../deps.ts";
import { type Published, publishDocument } from "../publish.ts";

/** Others may publish at the same time; each try starts from the current manifest. */
const tries = 5;

/**
 * Adds a generator to a server's manifest as a plugin. A type that exists is refused unless `override` is set. A
 * concurrent publish is not lost: the write has the manifest it started from as its precondition.
 */
export async function registerGenerator(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  generator: Generator,
  override: boolean,
): Promise<Result<Published, Failure>> {
  for (let attempt = 1; ; attempt += 1) {
    const { head } = await services.heads.resolve(ref, { strong: true, minGeneration: 0 });
    if (head === undefined || head.deleted) return err(failure("ErrorMCPServerNotFound"));
    const body = head.digest === undefined ? undefined : await services.bodies.get(ref, head.digest);
    const manifest = declared(body?.manifest);
    const registered = (manifest.generators ?? []) as { type: string }[];
    const taken = registered.some(({ type }) => type === generator.type);
    if (taken && !override) {
      return err(
        failure(
          "ErrorGeneratorExists",
          `A generator ${generator.type} is registered already; ?override=true replaces it`,
        ),
      );
    }
    const others = registered.filter(({ type }) => type !== generator.type);
    const value = { ...manifest, generators: [...others, { source: "plugin", ...generator }] };
    const precondition = { kind: "tags" as const, tags: [`${head.digest ?? "none"}.${head.overlay}`] };
    const published = await publishDocument(services, ref, { ...writer, precondition }, { value, issues: [] }, false);
    const raced = !published.ok && published.error.code === "ErrorPreconditionFailed";
    if (!raced || attempt === tries) return published;
  }
}

function declared(manifest: StoredManifest | undefined): Record<string, unknown> {
  const items = Map.groupBy(manifest?.capabilities ?? [], ({ kind }) => sectionForKind(kind));
  const sections = [...items].map(([section, list]) => [section, list.map((item) => item.declared)]);
  return { ...manifest?.header, ...Object.fromEntries(sections) };
}
