import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { PublishedManifest } from "../read.ts";
import { generatorsOf, missingGenerator, strategyOf } from "../views/generators.ts";
import type { PreflightRequest } from "../views/schema.ts";
import { type Preflight, preflight } from "./preflight.ts";
import { type Selection, selectGenerator } from "./select.ts";

/** Selects one of a server's generators for a config. */
export function selectFrom({ manifest, head }: PublishedManifest, config: unknown): Result<Selection, Failure> {
  const generators = generatorsOf(manifest, head);
  if (generators.length === 0) return err(failure("resource_not_found", "The server has no generators"));
  return ok(selectGenerator(config, generators, strategyOf(manifest).fallback));
}

/** Preflight check of one of a server's generators. */
export function preflightOf(
  { manifest, head }: PublishedManifest,
  type: string,
  request: PreflightRequest,
): Result<Preflight, Failure> {
  const generators = generatorsOf(manifest, head);
  const generator = generators.find((candidate) => candidate.type === type);
  return generator === undefined
    ? err(failure("resource_not_found", missingGenerator(type, generators)))
    : ok(preflight(generator, request));
}
