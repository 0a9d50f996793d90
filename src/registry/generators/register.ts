import type { Failure } from "../../kernel/failure.ts";
import type { ServerRef } from "../../kernel/names.ts";
import type { Result } from "../../kernel/result.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import type { Writer } from "../contract.ts";
import type { RegistryDeps } from "../deps.ts";
import { type Published, publishDocument } from "../publish.ts";

/**
 * Adds a generator to a server as a plugin, beside everything that it has. A type that exists is refused unless
 * `override` is set.
 */
export function registerGenerator(
  services: RegistryDeps,
  ref: ServerRef,
  writer: Writer,
  { override: _, ...generator }: Generator,
  override: boolean,
): Promise<Result<Published, Failure>> {
  const value = { generators: [{ source: "plugin", ...generator }] };
  return publishDocument(
    services,
    ref,
    writer,
    { value, issues: [] },
    {
      ...{ partial: false, dryRun: false },
      placement: { by: "plugin", override },
    },
  );
}
