import type { Principal } from "../../auth/principal.ts";
import { type RequestContext, RequestFailed, unwrap } from "../../http/context.ts";
import type { Answer, Answered, AnswerMeta } from "../../http/operation.ts";
import { freshnessFrom } from "../../http/parameters.ts";
import { etagOf } from "../../kernel/etag.ts";
import { type Failure, type FailureCode, failure } from "../../kernel/failure.ts";
import { type ServerRef, tenantKey } from "../../kernel/names.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { requireReadable } from "../access.ts";
import type { Resolved } from "../cache/heads.ts";
import type { Head } from "../contract.ts";
import type { RegistryDeps } from "../deps.ts";
import { allowCached, neverIntrospected, renderView, resolveHead } from "../read.ts";
import type { View } from "../views/view.ts";

/** Failures of reading a server: outsiders of its tenant only see what is public. */
export const readFails: readonly FailureCode[] = ["ErrorTenantPermissionError", "ErrorMCPServerNotFound"];

/** Of reading what it offers: its sources may never have been read. */
export const offerFails: readonly FailureCode[] = [...readFails, "ErrorSourceUnavailable"];

/** Of reading its manifest or a named view of it. */
export const viewFails: readonly FailureCode[] = [...offerFails, "resource_not_found", "server_error"];

interface ViewCall {
  c: RequestContext;
  principal: Principal;
  path: ServerRef;
  headers: Parameters<typeof freshnessFrom>[0];
  answer: Pick<Answer<{ 200: { description: string } }>, "raw" | "unchanged">;
}

/**
 * Answers with one view of one server: resolve the head, compare ETags, send bytes. An answer made from memory goes into
 * the response cache, which answers the next requests without this function.
 */
export async function answerView(
  services: RegistryDeps,
  { c, principal, path: { tenant, name }, headers, answer }: ViewCall,
  view: View,
  digest?: string,
): Promise<Answered> {
  const ref = { tenant, name };
  const freshness = freshnessFrom(headers);
  const remembered = services.heads.peek(ref, freshness);
  const found = remembered === undefined ? await resolveHead(services, principal, ref, freshness) : ok(remembered);
  const resolved = unwrap(digest === undefined ? found : await publicRevision(services, ref, found, digest));
  const head = unwrap(requireReadable(principal, tenant, resolved, freshness.minGeneration));

  // Cache only answers made from memory, and none of a server that was never introspected: each read of it may trigger
  // a refresh.
  const holds = () => services.heads.peek(ref, allowCached) === remembered;
  const isCacheable = remembered === resolved && !neverIntrospected(head) && isPlain(c.req.url, head, digest);
  const cacheOf = ({ source }: AnswerMeta, body: () => Uint8Array | undefined): AnswerMeta["cache"] =>
    isCacheable && source === "memory" ? { holds, variesBy: { member: tenant }, body } : undefined;

  const meta = {
    type: view.contentType,
    etag: etagOf(head, view.version),
    generation: resolved.asOf,
    source: resolved.source,
  };
  const unchanged = answer.unchanged({ ...meta, cache: cacheOf(meta, () => services.views.peek(head, view)) });
  if (unchanged !== undefined) return unchanged;
  const { bytes, ...shown } = unwrap(await renderView(services, principal, view, head, resolved));
  return answer.raw(200, bytes, { ...shown, type: view.contentType, cache: cacheOf(shown, () => bytes) });
}

/**
 * The state of a server if it is public and its current manifest has this digest; otherwise there is none, for members
 * too: older revisions are read where they are kept. A copy that is not the object's may be behind, so the object decides.
 */
async function publicRevision(
  services: RegistryDeps,
  ref: ServerRef,
  found: Result<Resolved, Failure>,
  digest: string,
): Promise<Result<Resolved, Failure>> {
  const isIt = ({ head }: Resolved) => head?.visibility === "public" && !head.deleted && head.digest === digest;
  if (found.ok && isIt(found.value)) return found;
  if (found.ok && found.value.source !== "object") {
    const current = await services.heads.resolve(ref, { strong: true, minGeneration: 0 });
    if (isIt(current)) return ok(current);
  }
  const message = "No public server has this name and digest now; revisions are the members'";
  return err(failure("ErrorRevisionNotFound", message));
}

/**
 * True if the URL spells the server as the registry does, or the tenant in lower case. Each other spelling of a URL would
 * be cached once more, and push out other responses.
 */
function isPlain(url: string, { tenant, name }: Head, digest?: string): boolean {
  const spellings = [tenant, tenantKey(tenant)];
  const path = digest === undefined || !url.endsWith(`?digest=${digest}`) ? url : url.slice(0, url.indexOf("?"));
  return !/[%?#]/.test(path) && spellings.some((spelling) => path.includes(`/${spelling}/${name}`));
}

/** Like `answerView`, for the views that have names: an internal error while rendering is reported as `server_error`. */
export async function answerNamedView(services: RegistryDeps, call: ViewCall, view: View): Promise<Answered> {
  try {
    return await answerView(services, call, view);
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.failure.code !== "ErrorInternalServer") throw error;
    throw new RequestFailed(failure("server_error", error.failure.message));
  }
}
