import type { Principal } from "../auth/principal.ts";
import { matchesEtag } from "../kernel/etag.ts";
import type { RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import type { Answer, Answered, AnswerMeta, Operation } from "./operation.ts";
import { anonymousPrincipal } from "./request.ts";
import { json, notModified, send } from "./respond.ts";
import { cacheResponse, questionOf } from "./response-cache.ts";

const encoder = new TextEncoder();

/** Makes the answers of one request. Types have checked them against the operation's declaration, and tests do again. */
export function answersOf(
  c: RequestContext,
  services: HttpDeps,
  { answers, method, access: { scope = "registry:read", token } }: Operation,
  principal: Principal = anonymousPrincipal,
): Answer {
  const unchanged = (meta: AnswerMeta): Response | undefined => {
    const known = method === "get" && meta.etag !== undefined ? c.req.header("If-None-Match") : undefined;
    if (known === undefined || meta.etag === undefined || !matchesEtag(known, meta.etag)) return undefined;
    keep(meta, undefined);
    return notModified(c, services, meta);
  };

  const raw = (status: number, body: BodyInit | null, meta: AnswerMeta = {}): Response => {
    if (status === 200) {
      const same = unchanged(meta);
      if (same !== undefined) return same;
    }
    // Encoded once, for the answer and for the cache.
    const sent = meta.cache !== undefined && typeof body === "string" ? encoder.encode(body) : body;
    keep(meta, sent);
    return send(c, services, sent, meta.type ?? json, { ...meta, status });
  };

  const keep = ({ cache, type, ...meta }: AnswerMeta, sent: BodyInit | null | undefined): void => {
    if (cache === undefined) return;
    const question = questionOf(c.req.raw);
    if (question === undefined) return;
    const { holds, variesBy, accepts } = cache;
    const access = { scope, anonymous: token !== "required", variesBy };
    const body = () => cache.body?.() ?? bytesOf(sent);
    const contentType = type ?? json;
    cacheResponse(c, services, { question, access, principal, body, contentType, meta, holds, accepts });
  };

  const answer = (status: number, data: unknown, meta: AnswerMeta = {}): Response => {
    const declared = answers[status];
    if (declared?.data !== undefined) {
      return raw(status, JSON.stringify({ success: true, message: meta.message, data }), meta);
    }
    const type = meta.type ?? declared?.type;
    return raw(status, declared?.json === undefined ? null : JSON.stringify(data), { ...meta, type });
  };

  const response = (_: number, made: Response) => made;
  return Object.assign(answer, { raw, unchanged, response }) as unknown as Answer & (() => Answered);
}

/** A stream is sent once, so it cannot be kept. */
function bytesOf(body: BodyInit | null | undefined): Uint8Array | undefined {
  return body instanceof Uint8Array ? body : undefined;
}
