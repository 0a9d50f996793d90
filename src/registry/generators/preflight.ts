import { z } from "zod";
import { named } from "../../http/named.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import type { PreflightRequest } from "../views/schema.ts";
import { isPresent } from "./config-path.ts";

export const Preflight = named(
  "Preflight",
  z
    .object({
      type: z.string(),
      ready: z.boolean(),
      missing_fields: z.array(z.string()),
      missing_credentials: z.array(z.string()),
      dependencies: z
        .array(z.string())
        .describe("Packages that the generator's host must have installed; the registry cannot check them."),
      timeout_ms: z.number().nullable().describe("Advised timeout; null if the generator calls nothing upstream."),
      concurrency: z.object({ safe: z.boolean(), advice: z.string() }),
      reasons: z.array(z.string()),
    })
    .describe("Whether a generator can run."),
);
export type Preflight = z.infer<typeof Preflight>;

/** Used if a generator declares no p95 latency. */
const assumedP95Ms = 5_000;

/**
 * Checks whether a generator can run on a config with the credentials the caller names, and advises on timeout and
 * concurrency.
 */
export function preflight(generator: Generator, { config, credentials }: PreflightRequest): Preflight {
  const { type, requirements, upstreamDependencies: upstream } = generator;
  const held = new Set(credentials);
  const needed = new Set([...(requirements?.envVars ?? []), ...(upstream?.credentialsRequired ?? [])]);
  const missing_fields = (requirements?.fields ?? []).filter((field) => !isPresent(config, field));
  const missing_credentials = [...needed].filter((name) => !held.has(name));
  const p95 = upstream?.expectedLatencyMs?.p95;
  const safe = upstream?.concurrencySafe ?? upstream == null;
  return {
    type,
    ready: missing_fields.length === 0 && missing_credentials.length === 0,
    missing_fields,
    missing_credentials,
    dependencies: requirements?.dependencies ?? [],
    timeout_ms: upstream == null ? null : 2 * (p95 ?? assumedP95Ms),
    concurrency: {
      safe,
      advice: safe ? "several may run at once" : "run one at a time: the generator does not declare concurrencySafe",
    },
    reasons: [
      ...missing_fields.map((field) => `Missing field: ${field}`),
      ...missing_credentials.map((name) => `Missing credential: ${name}`),
      upstream == null
        ? "It depends on nothing upstream"
        : p95 === undefined
          ? `Its p95 latency is not declared; ${assumedP95Ms} ms is assumed, and the timeout is twice that`
          : `The timeout is twice its p95 latency of ${p95} ms`,
      ...(generator.status === "deprecated" ? ["It is deprecated"] : []),
      ...(upstream?.stability !== undefined && upstream.stability !== "stable"
        ? [`Its upstream is ${upstream.stability}`]
        : []),
    ],
  };
}
