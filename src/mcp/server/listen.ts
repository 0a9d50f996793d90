import { isMember, type Principal } from "../../auth/principal.ts";
import type { Failure } from "../../kernel/failure.ts";
import { type TenantKey, tenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { formatEvent } from "../../kernel/sse.ts";
import type { FollowedResource, ResourceSubject } from "../resources/follow-resources.ts";
import { isIndexUri, maxTenants } from "../resources/index-resources.ts";
import { readResource } from "../resources/resources.ts";
import { parseResourceUri } from "../resources/uri.ts";
import type { McpCaller } from "./caller.ts";

/** Resources per stream. Each is read when the stream opens and compared again after every write of its tenant. */
export const maxFollowed = 64;
export const maxFollowedAnonymous = 16;

/**
 * The URIs that the caller can read and may subscribe to; the acknowledgement leaves out the others. Fails if a URI
 * needs a token and the caller has none.
 */
export async function subscribableUris(caller: McpCaller, uris: readonly string[]): Promise<Result<string[], Failure>> {
  const { services, principal } = caller;
  const found: string[] = [];
  for (const uri of new Set(uris)) {
    const read = await readResource(services, principal, uri);
    if (read.ok && isFollowable(principal, uri)) found.push(uri);
    if (!read.ok && read.error.code === "ErrorUnauthorized") return err(read.error);
  }
  return ok(found);
}

/** An index also changes with private servers, and readers outside the tenant must not learn of these changes. */
function isFollowable(principal: Principal, uri: string): boolean {
  const followed = followedResource(principal, uri);
  return followed === undefined || !followed.index || !followed.outsider;
}

/** undefined if only a deployment changes the resource. */
function followedResource(principal: Principal, uri: string): FollowedResource | undefined {
  const named = isIndexUri(uri) ? indexOwner(uri) : serverOf(uri);
  if (named === undefined) return undefined;
  return { uri, ...named, index: isIndexUri(uri), outsider: !isMember(principal, named.tenant) };
}

function serverOf(uri: string): { tenant: TenantKey; server: string } | undefined {
  const parsed = parseResourceUri(uri);
  const server = parsed.ok ? parsed.value?.server : undefined;
  return server && { tenant: server.tenant, server: server.name };
}

function indexOwner(uri: string): { tenant: TenantKey; server?: string } | undefined {
  const [tenant, server] = uri.split("/").slice(3, -1);
  return tenant === undefined ? undefined : { tenant: tenantKey(tenant), server };
}

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/**
 * Reads the SDK's acknowledgement, the first message of its stream, and cancels the rest. If there is nothing to
 * subscribe to, or the client's revision has no subscriptions, the SDK ends the stream itself: returns the whole text.
 */
export async function readAcknowledgement(response: Response, principal: Principal): Promise<ResourceSubject | string> {
  const reader = (response.body ?? new ReadableStream()).getReader();
  const opening = new TextDecoder().decode((await reader.read()).value);
  const { method, params } = readJson(opening.slice(opening.indexOf("{"))) as Acknowledged;
  if (method !== "notifications/subscriptions/acknowledged") return opening + (await remaining(reader));
  const { resourceSubscriptions = [], resourcesListChanged } = params.notifications;
  if (resourceSubscriptions.length === 0 && !resourcesListChanged) return opening + (await remaining(reader));
  await reader.cancel();
  const id = params._meta[subscriptionId];
  const result = { resultType: "complete", _meta: { [subscriptionId]: id } };
  return {
    frame: { opening, closing: formatEvent({ name: "message", data: { jsonrpc: "2.0", id, result } }) },
    meta: { [subscriptionId]: id },
    resources: resourceSubscriptions.flatMap((uri) => followedResource(principal, uri) ?? []),
    lists: resourcesListChanged ? [...principal.tenants].sort().slice(0, maxTenants) : [],
  };
}

interface Acknowledged {
  method?: string;
  params: {
    notifications: { resourceSubscriptions?: string[]; resourcesListChanged?: boolean };
    _meta: Record<string, string | number>;
  };
}

async function remaining(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += decoder.decode(next.value);
  return text;
}
