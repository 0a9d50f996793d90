import { isMember, type Principal } from "../auth/principal.ts";
import type { Freshness } from "../http/request.ts";
import { etagOf } from "../kernel/etag.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { refOf, type ServerRef } from "../kernel/names.ts";
import { type AnswerSource, farthestSource } from "../kernel/platform/usage.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { StoredManifest } from "../manifest/stored.ts";
import { checkTenantExists, requireReadable } from "./access.ts";
import type { Resolved } from "./cache/heads.ts";
import type { Head, Refreshed, RefreshSkipped, SourceDetail } from "./contract.ts";
import type { RegistryDeps } from "./deps.ts";
import { readSources } from "./sources/warnings.ts";
import { visibleManifest } from "./views/enabled.ts";
import type { View } from "./views/view.ts";

/** The message about a manifest that storage lost. */
function missingManifest({ tenant, name }: Pick<Head, "tenant" | "name">): string {
  return `The stored manifest of ${tenant}/${name} is missing. Retry with \`Cache-Control: no-cache\`, or publish it again`;
}

/** A server's head and manifest; the manifest is undefined if nothing is published. */
export interface PublishedManifest {
  head: Head;
  manifest: StoredManifest | undefined;
}

/** Any cached state will do: for callers that cannot ask for a fresher one. */
export const allowCached: Freshness = { strong: false, minGeneration: 0 };

/** Reads the manifest of a server that the principal may read. */
export async function readManifest(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  freshness: Freshness = allowCached,
): Promise<Result<PublishedManifest, Failure>> {
  const resolved = await resolveHead(services, principal, ref, freshness);
  if (!resolved.ok) return resolved;
  const readable = requireReadable(principal, ref.tenant, resolved.value, freshness.minGeneration);
  if (!readable.ok) return readable;
  const head = readable.value;
  if (head.digest === undefined) return ok({ head, manifest: undefined });
  const body = await services.bodies.get(ref, head.digest, { isPublic: head.visibility === "public" });
  if (body !== undefined) return ok({ head, manifest: visibleManifest(body.manifest, head) });
  if (freshness.strong) return err(failure("server_error", missingManifest(head)));
  // The revision was pruned after the head was read: the object has the head of now.
  return readManifest(services, principal, ref, { ...freshness, strong: true });
}

/**
 * Resolves the head of a server once its tenant is known to exist. Does not check whether the principal may read the
 * server.
 */
export async function resolveHead(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  freshness: Freshness,
): Promise<Result<Resolved, Failure>> {
  const error = await checkTenantExists(services, principal, ref.tenant);
  return error === undefined ? ok(await services.heads.resolve(ref, freshness)) : err(error);
}

/**
 * Refreshes a server's sources and confirms the resulting head in this data centre. Set `anew` if a change is known: a
 * refresh that is already running may have read before the change.
 */
export async function refreshNow(
  services: RegistryDeps,
  { tenant, name }: ServerRef,
  { afterRunning }: { afterRunning: boolean },
): Promise<Refreshed | RefreshSkipped> {
  const refreshed = await services.tenant(tenant).refresh(name, { afterRunning });
  if (typeof refreshed === "object") await services.heads.confirm(refreshed.head);
  return refreshed;
}

/** A view's bytes with the metadata of the response. */
interface ShownView {
  bytes: Uint8Array;
  etag: string;
  generation: number;
  source: AnswerSource;
}

/** Reads one view of one server. */
export async function readView(
  services: RegistryDeps,
  principal: Principal,
  ref: ServerRef,
  view: View,
  freshness: Freshness = allowCached,
): Promise<Result<ShownView, Failure>> {
  const resolved = await resolveHead(services, principal, ref, freshness);
  if (!resolved.ok) return resolved;
  const head = requireReadable(principal, ref.tenant, resolved.value, freshness.minGeneration);
  return head.ok ? renderView(services, principal, view, head.value, resolved.value) : head;
}

/** True if the server's capabilities come from sources that the registry reads, and none was ever read. */
export function neverIntrospected(head: Head): boolean {
  return head.digest === undefined && readSources(head).length > 0;
}

/** Renders a view of a head. The caller must have checked that the principal may read the head. */
export async function renderView(
  services: RegistryDeps,
  principal: Principal,
  view: View,
  head: Head,
  { asOf, source }: Pick<Resolved, "asOf" | "source">,
): Promise<Result<ShownView, Failure>> {
  if (neverIntrospected(head)) {
    const read = await introspectNow(services, principal, head);
    if (!read.ok) return read;
    if (!neverIntrospected(read.value))
      return renderView(services, principal, view, read.value, { asOf: read.value.asOf, source });
  }
  const rendered = await services.views.render(head, view);
  if (rendered !== undefined && rendered.bytes === undefined) return err(await missingView(services, view, head));
  if (rendered !== undefined) return shown(view, head, asOf, rendered.bytes, farthestSource(source, rendered.source));
  // The revision was pruned after the head was read. Get the current head from the object and check permission again:
  // it may have become private.
  const ref = refOf(head);
  const current = await services.heads.resolve(ref, { strong: true, minGeneration: 0 });
  const present = requireReadable(principal, ref.tenant, current, 0);
  if (!present.ok) return present;
  const again = await services.views.render(present.value, view);
  if (again === undefined) {
    return err(failure("ErrorInternalServer", `Failed to fetch capabilities: ${missingManifest(present.value)}`));
  }
  return shown(view, present.value, current.asOf, again.bytes, current.source);
}

/**
 * For a member, reads the pending sources while the request waits; other callers see the pending state. There is no
 * earlier copy to show, so a source that failed fails the request, for members with what the source said.
 */
async function introspectNow(services: RegistryDeps, principal: Principal, head: Head): Promise<Result<Head, Failure>> {
  const pending = readSources(head).some(({ status }) => status === "pending");
  const ref = refOf(head);
  const isTheirs = isMember(principal, ref.tenant);
  let current = head;
  if (pending && isTheirs) {
    const refreshed = await refreshNow(services, ref, { afterRunning: false });
    if (typeof refreshed === "string") return ok(head);
    current = refreshed.head;
  }
  const hasFailed = readSources(current).some(({ status }) => status !== "pending");
  if (!neverIntrospected(current) || !hasFailed) return ok(current);
  // To others, a server that has never offered anything is not there.
  if (!isTheirs) return err(failure("ErrorMCPServerNotFound"));
  const failed = readSources({ sources: await services.tenant(ref.tenant).sources(ref.name) });
  return err(failure("ErrorSourceUnavailable", `Failed to fetch capabilities: ${failed.flatMap(whyOf).join("; ")}`));
}

function whyOf({ id, status, error, message }: SourceDetail): string[] {
  if (status === "pending" || status === "live") return [];
  return [
    `${id} is ${status}${error === undefined ? "" : ` (${error})`}${message === undefined ? "" : `: ${message}`}`,
  ];
}

function shown(
  view: View,
  head: Head,
  generation: number,
  bytes: Uint8Array | undefined,
  source: AnswerSource,
): Result<ShownView, Failure> {
  if (bytes === undefined) return err(failure("resource_not_found"));
  return ok({ bytes, etag: etagOf(head, view.version), generation, source });
}

/** The failure for a view that the server does not have. It names those there are, so call it only for a reader. */
async function missingView(services: RegistryDeps, view: View, head: Head): Promise<Failure> {
  const body = head.digest === undefined ? undefined : await services.bodies.get(refOf(head), head.digest);
  return failure("resource_not_found", view.missing?.(body?.manifest, head));
}
