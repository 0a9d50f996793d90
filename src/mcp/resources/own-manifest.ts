import packageJson from "../../../package.json" with { type: "json" };
import type { Config } from "../../config.ts";
import { importOpenApi } from "../../formats/openapi/import-openapi.ts";
import type { Failure } from "../../kernel/failure.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { compatibilityDate, service, version } from "../../kernel/version.ts";
import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../../registry/contract.ts";
import { findView, unknownView } from "../../registry/read.ts";
import type { McpDeps } from "../deps.ts";

/** The registry's own manifest and head, built from the settings and code that are running. */
async function selfManifest({ config, openapi }: McpDeps): Promise<{ manifest: StoredManifest; head: Head }> {
  const header = {
    version,
    serverInfo: { name: service, version },
    mcpVersion: "2026-07-28",
    description: "An edge-deployed capability registry.",
    features: featuresOf(config),
    limits: limitsOf(config),
    runtime: runtimeOf(),
  };
  capabilities ??= [...operations(readJson(await openapi("json"))), ...resources()];
  return { manifest: { digest: "", header, capabilities }, head: selfHead };
}

let capabilities: StoredCapability[] | undefined;

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
}: Config): Record<string, boolean> {
  return {
    authentication: tokenKeys !== undefined,
    identity_provider_tokens: tokenKeys?.kind === "jwks",
    signed_cursors: signingSecret !== undefined,
    cross_origin_requests: corsOrigins === "*" || corsOrigins.length > 0,
    capability_discovery: true,
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

/** The registry's own HTTP API, imported from its OpenAPI document like any other API. */
function operations(openapi: unknown): StoredCapability[] {
  const imported = importOpenApi(openapi, { server: service });
  if (!imported.ok) throw new Error(`the registry's own description cannot be imported: ${imported.error.message}`);
  const items = imported.value.manifest.operations as Record<string, unknown>[];
  return items.map((declared) => stored("operation", String(declared.name), declared));
}

function resources(): StoredCapability[] {
  const view = {
    name: "view",
    type: "string",
    description: "Which view.",
    enum: ["server", "tools", "resources", "generators"],
  };
  const template = {
    name: "capabilities",
    patterns: ["capabilities://{view}", "capabilities://{tenant}/{name}/{view}"],
    mimeType: "application/json",
    description:
      "Views of the registry itself and of every server; over HTTP at /api/mcp/capabilities/{view} and /api/mcp/capabilities/{tenant}/{name}/{view}.",
    parameters: [
      view,
      { name: "tenant", type: "string", description: "Owner of the server." },
      { name: "name", type: "string", description: "Name of the server." },
    ],
    examples: ["capabilities://server", "capabilities://tools"],
  };
  return [stored("resourceTemplate", "capabilities://{view}", template)];
}

function stored(kind: StoredCapability["kind"], key: string, declared: Record<string, unknown>): StoredCapability {
  return { kind, key, id: `${service}.${key}`, digest: "", tokens: 0, flags: [], declared };
}

/** A view of the registry itself, public. */
export async function ownView(
  services: McpDeps,
  name: string,
): Promise<Result<{ text: string; contentType: string }, Failure>> {
  const view = findView(name);
  if (!view.ok) return view;
  const { manifest, head } = await selfManifest(services);
  const text = view.value.render(manifest, head);
  return text === undefined ? err(unknownView(name)) : ok({ text, contentType: view.value.contentType });
}
