import { toolName } from "../../formats/rtfs/index.ts";
import type { StoredCapability } from "../../manifest/stored.ts";
import type { Capability } from "../answer-schema.ts";
import type { Head } from "../contract.ts";
import { itemRecords } from "../record.ts";
import { declaredItem } from "./enabled.ts";
import { object } from "./fields.ts";

/** Where a runtime would call a capability: the declared URL and names of environment variables, never their values. */
interface RuntimeHints {
  url?: { declared?: string; override_env?: string };
  /** In order of precedence. */
  auth?: { source: "explicit_token" | "environment"; name?: string }[];
  session?: { requires_session: string; use_session: boolean };
}

const genericTokenVariable = "MCP_AUTH_TOKEN";

/** The override variable wins over the declared URL; an explicit token wins over any variable. */
export function runtimeHints({ id, declared }: Pick<StoredCapability, "id" | "declared">): RuntimeHints {
  const metadata = object(declared.metadata);
  const mcp = object(metadata.mcp);
  const openapi = object(metadata.openapi);
  const graphql = object(metadata.graphql);
  const url = plainUrl(text(mcp.server_url) ?? text(openapi.base_url) ?? text(graphql.endpoint_url));
  const override = variable(mcp.server_url_override_env);
  const hints: RuntimeHints = {};
  if (url !== undefined || override !== undefined) {
    hints.url = { override_env: override || undefined, declared: url || undefined };
  }
  if (Object.keys(mcp).length > 0) {
    const named = variable(mcp.auth_env_var);
    const namespace = (text(mcp.server_name) || namespaceOf(id)).toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
    const variables = [named, namespace && `${namespace}_MCP_TOKEN`, genericTokenVariable];
    const distinct = [...new Set(variables.filter((name): name is string => name !== undefined && name !== ""))];
    hints.auth = [{ source: "explicit_token" }, ...distinct.map((name) => ({ source: "environment" as const, name }))];
    const requires = text(mcp.requires_session);
    if (requires !== undefined) {
      hints.session = { requires_session: requires, use_session: requires === "true" || requires === "auto" };
    }
  }
  return hints;
}

/** What an id has between `mcp.` and the tool name: `github` of `mcp.github.list_issues` and of `github/list_issues`. */
function namespaceOf(id: string): string {
  const before = id.slice(0, -toolName(id).length - 1).replace(/^mcp(?:[./]|$)/i, "");
  // Generated ids escape characters within a part, the dot among them.
  return before.replaceAll(/(?:~[0-9A-F]{2})+/g, "_");
}

/** Accepts only names of environment variables, so that a token pasted into the field is not exposed. */
function variable(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z][A-Z0-9_]{0,127}$/.test(value) ? value : undefined;
}

/** The URL without user, password and query, which may contain secrets. */
function plainUrl(value: string | undefined): string | undefined {
  const url = value === undefined ? null : URL.parse(value);
  return url === null ? undefined : `${url.protocol}//${url.host}${url.pathname}`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** One capability with the head of its server. */
export interface CapabilityDocument {
  capability: StoredCapability;
  head: Head;
}

interface CapabilityOptions {
  /** Add `runtime`: where and with which variables a runtime would call the capability. */
  hints: boolean;
}

/**
 * Generic fields at the top level, provider details and provenance under `metadata`, registry data under `registry`.
 */
export function capabilityDocument({ capability, head }: CapabilityDocument, { hints }: CapabilityOptions): Capability {
  const { tenant, name } = head;
  const { id, ...record } = itemRecords(head)(capability);
  const document: Capability = {
    ...declaredItem(capability),
    id,
    kind: capability.kind,
    registry: { tenant, name, ...record },
  };
  // Otherwise a member of that name is the publisher's own.
  if (hints) document.runtime = runtimeHints(capability);
  return document;
}
