import packageJson from "../../../package.json" with { type: "json" };
import { maxStreams } from "../../changes/streams.ts";
import type { Config } from "../../config.ts";
import { importOpenApi } from "../../formats/openapi/import-openapi.ts";
import { canonicalJson, digestOfTextSync } from "../../kernel/digest.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { withoutUndefined } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { compatibilityDate, service, version } from "../../kernel/version.ts";
import { definitionText } from "../../manifest/definition.ts";
import { itemKey } from "../../manifest/diff.ts";
import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import { loadTokenizer } from "../../manifest/tokens.ts";
import type { Head } from "../../registry/contract.ts";
import { viewsOf } from "../../registry/views/extensions.ts";
import { namedView } from "../../registry/views/named.ts";
import { serverDocument } from "../../registry/views/server.ts";
import type { McpDeps } from "../deps.ts";
import { listTools } from "../tools/tools.ts";
import { timeoutMs, toolUsage } from "../tools/usage.ts";
import { maxListening, maxListeningAnonymous } from "./follow-resources.ts";
import { ownFamilies } from "./own-resources.ts";

/**
 * The registry's own manifest and head, built from the settings and code that are running. Its HTTP operations are a
 * view of their own: what an MCP client can call are its tools.
 */
function selfManifest({ config }: McpDeps): { manifest: StoredManifest; head: Head } {
  const header = {
    version,
    serverInfo: { name: service, version },
    mcpVersion: "2026-07-28",
    description: "An edge-deployed capability registry.",
    features: featuresOf(config),
    limits: limitsOf(config),
    concurrencyLimits,
    runtime: runtimeOf(),
    selectionStrategy: { explanation: selectionExplanation },
  };
  const capabilities = [...tools(), ...ownFamilies(config).map((family) => stored("resourceTemplate", { ...family }))];
  return { manifest: { digest: "", header, capabilities }, head: selfHead };
}

const selectionExplanation =
  "The registry has no generators of its own. Among those of a server it chooses by the type a config names, else by the " +
  "syntax of its template, else by its structure, else the server's fallback.";

/** Streams that one caller may have open at the same time. */
const concurrencyLimits = {
  max_event_streams: maxStreams,
  max_mcp_streams: maxListening,
  max_mcp_streams_anonymous: maxListeningAnonymous,
};

const selfHead: Head = {
  tenant: service,
  name: service,
  visibility: "public",
  status: "active",
  generation: 0,
  asOf: 0,
  overlay: 0,
  disabled: [],
  flags: [],
};

/** What this deployment has switched on. */
export function featuresOf({
  tokenKeys,
  signingSecret,
  corsOrigins,
  requireNegotiation,
  advertisedIndex,
}: Config): Record<string, boolean> {
  return {
    authentication: tokenKeys !== undefined,
    identity_provider_tokens: tokenKeys?.kind === "jwks",
    signed_cursors: signingSecret !== undefined,
    cross_origin_requests: corsOrigins === "*" || corsOrigins.length > 0,
    tools: true,
    resources: true,
    prompts: true,
    completions: true,
    capability_discovery: true,
    capability_index: Object.values(advertisedIndex).some(Boolean),
    generator_plugins: true,
    generator_selection: true,
    imports: true,
    history: true,
    change_log: true,
    negotiation: true,
    negotiation_required: requireNegotiation,
    session_streams: true,
    inbound_webhooks: true,
    outbound_subscriptions: true,
    introspection: true,
    change_stream: true,
    official_registry_api: true,
    mcp_endpoint: true,
  };
}

function limitsOf({ bounds, readLimit, writeLimit, negotiateLimit }: Config): Record<string, number> {
  return {
    max_config_bytes: bounds.configBytes,
    max_capability_bytes: bounds.capabilityBytes,
    max_manifest_bytes: bounds.manifestBytes,
    max_import_bytes: bounds.importBytes,
    max_capabilities: bounds.capabilities,
    max_depth: bounds.depth,
    max_revisions: bounds.revisions,
    max_changes: bounds.changes,
    max_server_json_bytes: bounds.serverJsonBytes,
    max_versions: bounds.versions,
    reads_per_second: readLimit.rate,
    reads_at_once: readLimit.burst,
    writes_per_second: writeLimit.rate,
    writes_at_once: writeLimit.burst,
    negotiations_per_second: negotiateLimit.rate,
    negotiations_at_once: negotiateLimit.burst,
  };
}

function runtimeOf(): Record<string, string> {
  return {
    platform: "workerd",
    user_agent: navigator.userAgent,
    compatibility_date: compatibilityDate,
    ...packageJson.dependencies,
  };
}

/** The tools of `tools/list`, with what their users need to know. */
function tools(): StoredCapability[] {
  return listTools().map((tool) => {
    const { category, examples, commonErrors, typicalMs } = toolUsage[tool.name] ?? {};
    return stored("tool", { ...tool, category, examples, commonErrors, performance: { typicalMs, timeoutMs } });
  });
}

let operations: StoredCapability[] | undefined;

/** The registry's own HTTP API, imported from its OpenAPI document like any other API. */
async function ownOperations({ openapi }: McpDeps): Promise<StoredCapability[]> {
  if (operations !== undefined) return operations;
  const imported = importOpenApi(readJson(await openapi("json")), { server: service });
  if (!imported.ok) throw new Error(`the registry's own description cannot be imported: ${imported.error.message}`);
  const items = imported.value.manifest.operations as Record<string, unknown>[];
  operations = items.map((declared) => stored("operation", declared));
  return operations;
}

function stored(kind: StoredCapability["kind"], declared: Record<string, unknown>): StoredCapability {
  const key = String(declared.name);
  return { kind, key, id: `${service}.${key}`, digest: "", tokens: 0, flags: [], declared };
}

/** Digests and costs of the registry's own items, by kind and key: they change with the code alone. */
const known = new Map<string, Pick<StoredCapability, "digest" | "tokens">>();

async function described(items: readonly StoredCapability[]): Promise<StoredCapability[]> {
  const count = await loadTokenizer();
  return items.map((item) => {
    const { kind, key, declared } = item;
    let facts = known.get(itemKey(item));
    if (facts === undefined) {
      const text = canonicalJson(withoutUndefined(declared));
      facts = { digest: digestOfTextSync(text), tokens: count(definitionText(kind, text)) };
      known.set(itemKey({ kind, key }), facts);
    }
    return { ...item, ...facts };
  });
}

/** A view of the registry itself, public. */
export async function ownView(
  services: McpDeps,
  name: string,
): Promise<Result<{ text: string; contentType: string }, Failure>> {
  const { manifest: self, head } = selfManifest(services);
  const manifest = { ...self, capabilities: await described(self.capabilities) };
  const view = namedView(name);
  const { contentType } = view;
  const text = ["server", "operations"].includes(name) ? undefined : view.render(manifest, head);
  if (text !== undefined) return ok({ text, contentType });
  const whole = {
    ...manifest,
    capabilities: [...manifest.capabilities, ...(await described(await ownOperations(services)))],
  };
  if (name === "server") {
    const document = { ...serverDocument(manifest, head), views: viewsOf(whole, head) };
    return ok({ text: JSON.stringify(document), contentType });
  }
  const ofWhole = view.render(whole, head);
  if (ofWhole === undefined) return err(failure("resource_not_found", view.missing?.(whole, head)));
  return ok({ text: ofWhole, contentType });
}
