import { type Failure, failure } from "../domain/failure.ts";
import { type Preflight, preflight } from "../domain/preflight.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { type Selection, selectGenerator } from "../domain/select-generator.ts";
import type { PreflightRequest } from "../schemas/index.ts";
import { generatorsOf, strategyOf } from "../views/generators.ts";
import type { PublishedManifest } from "./manifest.ts";

/** Which of a server's generators a config is for. */
export function selectFrom({ manifest, head }: PublishedManifest, config: unknown): Result<Selection, Failure> {
  const generators = generatorsOf(manifest, head);
  if (generators.length === 0) return err(failure("resource_not_found", "The server has no generators"));
  return ok(selectGenerator(config, generators, strategyOf(manifest).fallback));
}

/** Whether one of a server's generators could run. */
export function preflightOf(
  { manifest, head }: PublishedManifest,
  type: string,
  request: PreflightRequest,
): Result<Preflight, Failure> {
  const generator = generatorsOf(manifest, head).find((candidate) => candidate.type === type);
  if (generator !== undefined) return ok(preflight(generator, request));
  return err(failure("resource_not_found", `The server has no generator ${JSON.stringify(type)}`));
}
