import { isMember, type Principal } from "../../auth/principal.ts";
import type { Failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { formatEvent } from "../../kernel/sse.ts";
import type { FollowedResource, ResourceSubject } from "../resources/follow-resources.ts";
import { isIndexUri, maxTenants } from "../resources/index-resources.ts";
import { readResource } from "../resources/resources.ts";
import { parseResourceUri } from "../resources/uri.ts";
import type { McpCaller } from "./caller.ts";

/** Resources that one stream may follow: each is read once when it opens, and asked about when its tenant writes. */
export const maxFollowed = 64;
export const maxFollowedAnonymous = 16;

/**
 * Those of the URIs that the caller may follow, which are those it can read; the others are left out of what is
 * acknowledged. Where only a token is missing, it is asked for.
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

/** An index moves with private servers too, of which no one outside its tenant is told. */
function isFollowable(principal: Principal, uri: string): boolean {
  const followed = followedResource(principal, uri);
  return followed === undefined || !followed.index || !followed.outsider;
}

/** Undefined for what only a deployment changes. */
export function followedResource(principal: Principal, uri: string): FollowedResource | undefined {
  const named = isIndexUri(uri) ? indexOwner(uri) : serverOf(uri);
  if (named === undefined) return undefined;
  return { uri, ...named, index: isIndexUri(uri), outsider: !isMember(principal, named.tenant) };
}

function serverOf(uri: string): { tenant: string; server: string } | undefined {
  const parsed = parseResourceUri(uri);
  const server = parsed.ok ? parsed.value?.server : undefined;
  return server && { tenant: server.tenant, server: server.name };
}

function indexOwner(uri: string): { tenant: string; server?: string } | undefined {
  const [tenant, server] = uri.split("/").slice(3, -1);
  return tenant === undefined ? undefined : { tenant, server };
}

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/**
 * What the SDK acknowledged, read from the first message of its stream; the rest of that is not needed. Where there is
 * nothing to listen to, or the client's revision knows no listening, the SDK ends the stream itself: then it is the whole
 * text.
 */
export async function readAcknowledgement(response: Response, principal: Principal): Promise<ResourceSubject | string> {
  const reader = (response.body ?? new ReadableStream()).getReader();
  const opening = new TextDecoder().decode((await reader.read()).value);
  const { method, params } = JSON.parse(opening.slice(opening.indexOf("{"))) as Acknowledged;
  if (method !== "notifications/subscriptions/acknowledged") return opening + (await remaining(reader));
  const { resourceSubscriptions = [], resourcesListChanged } = params.notifications;
  if (resourceSubscriptions.length === 0 && !resourcesListChanged) return opening + (await remaining(reader));
  await reader.cancel();
  const id = params._meta[subscriptionId];
  const result = { resultType: "complete", _meta: { [subscriptionId]: id } };
  return {
    kind: "resources",
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
