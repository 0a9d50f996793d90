import { snakeCase } from "../../manifest/intake/places.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import type { StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";
import { itemRecords, serverRecord } from "../record.ts";
import type { ItemRecord } from "../record-schema.ts";
import { enabledCapabilities, tokensOf } from "./enabled.ts";
import { object, text, versionOf } from "./fields.ts";
import type { GeneratorsView } from "./schema.ts";
import { jsonView, type View } from "./view.ts";

const defaultStrategy = {
  type: "priority",
  explanation: "The type a config names, else the syntax of its template, else its structure, else the fallback.",
  fallback: "jinja2",
};

/** The enabled generators of a server, as declared. */
export function generatorsOf(manifest: StoredManifest | undefined, head: Head): Generator[] {
  return enabledCapabilities(manifest, head)
    .filter(({ kind }) => kind === "generator")
    .map(({ declared }) => declared as Generator);
}

export function strategyOf(manifest: StoredManifest | undefined): typeof defaultStrategy {
  const declared = object(manifest?.header.selectionStrategy);
  return {
    type: text(declared.type) || defaultStrategy.type,
    explanation: text(declared.explanation) || defaultStrategy.explanation,
    fallback: text(declared.fallback) || defaultStrategy.fallback,
  };
}

/** `capabilities://generators`: all generators, plugins included, ordered by type. */
export const generatorsView = jsonView("g2", registry);

/** `generator://{tenant}/{name}/{type}`: one generator, as `capabilities://generators` shows it. */
export function generatorView(type: string): View {
  const view = jsonView(`g2.${type}`, (manifest, head) => {
    const item = enabledCapabilities(manifest, head).find(({ kind, key }) => kind === "generator" && key === type);
    return item && shown(item.declared as Generator, versionOf(manifest), itemRecords(head)(item));
  });
  return { ...view, missing: (manifest, head) => missingGenerator(type, generatorsOf(manifest, head)) };
}

/** Types that a message lists. */
const maxListed = 20;

/** Types of generators for a message, sorted. */
export function typesOf(generators: readonly Generator[]): string {
  const types = generators.map(({ type }) => type).sort();
  const more = types.length > maxListed ? ` and ${types.length - maxListed} more` : "";
  return `${types.slice(0, maxListed).join(", ")}${more}`;
}

/** Says that a server does not have a type, and which it has. */
export function missingGenerator(type: string, generators: readonly Generator[]): string {
  const wanted = JSON.stringify(type.slice(0, 128).toWellFormed());
  return `The server has no generator ${wanted}: it has ${generators.length === 0 ? "none" : typesOf(generators)}`;
}

/** `generator://decision_tree`: the same data, marked as deprecated in favour of `capabilities://generators`. */
export const decisionTreeView = jsonView("d2", (manifest, head) => ({
  deprecated: true,
  replaced_by: "capabilities://generators",
  ...registry(manifest, head),
}));

function registry(manifest: StoredManifest | undefined, head: Head): GeneratorsView {
  const version = versionOf(manifest);
  const recordOf = itemRecords(head);
  const enabled = enabledCapabilities(manifest, head);
  const generators = enabled
    .filter(({ kind }) => kind === "generator")
    .map((item) => shown(item.declared as Generator, version, recordOf(item)))
    .sort((a, b) => (a.type < b.type ? -1 : 1));
  const strategy = strategyOf(manifest);
  const hasFallback = generators.some(({ type }) => type === strategy.fallback);
  const plugin_count = generators.filter(({ source }) => source === "plugin").length;
  return {
    generators: Object.fromEntries(generators.map((generator) => [generator.type, generator])),
    selection_strategy: hasFallback ? strategy : { ...strategy, fallback: null },
    metadata: {
      version,
      generator_count: generators.length,
      builtin_count: generators.length - plugin_count,
      plugin_count,
    },
    registry: serverRecord(head, tokensOf(enabled)),
  };
}

function shown(
  generator: Generator,
  manifestVersion: string,
  registry: ItemRecord,
): GeneratorsView["generators"][string] {
  const { requirements, upstreamDependencies: upstream } = generator;
  const { subfields } = requirements ?? {};
  return {
    type: generator.type,
    name: generator.name ?? generator.type,
    version: generator.version ?? manifestVersion,
    source: generator.source ?? "builtin",
    plugin_path: generator.pluginPath,
    status: generator.status ?? "stable",
    capabilities: generator.capabilities ?? [],
    indicators: Object.fromEntries(
      Object.entries(generator.indicators ?? {}).map(([key, value]) => [snakeCase(key), value]),
    ),
    requirements: {
      fields: requirements?.fields ?? [],
      dependencies: requirements?.dependencies ?? [],
      env_vars: requirements?.envVars ?? [],
      subfields,
    },
    best_for: generator.bestFor ?? [],
    docs_uri: generator.docsUri ?? "",
    // Only null says that there is nothing upstream.
    upstream_dependencies:
      upstream == null
        ? upstream
        : {
            services: upstream.services ?? [],
            credentials_required: upstream.credentialsRequired ?? [],
            optional_services: upstream.optionalServices ?? [],
            expected_latency_ms: upstream.expectedLatencyMs ?? {},
            stability: upstream.stability ?? "stable",
            concurrency_safe: upstream.concurrencySafe ?? false,
          },
    registry,
  };
}
