import type { Principal } from "../auth/principal.ts";
import { parseBody, readDocument } from "../http/body.ts";
import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { authenticateOptional, consumeRateLimit, readQuery } from "../http/request.ts";
import { send } from "../http/respond.ts";
import { service, version } from "../kernel/version.ts";
import type { SessionsDeps } from "./deps.ts";
import { serverCapabilities } from "./offers.ts";
import { type OpenedSession, openSession, resumeSession, sessionExtensions } from "./open.ts";
import { sessionDocument } from "./response.ts";
import { readResumeToken } from "./resume-token.ts";
import { type CapabilityDetail, NegotiationRequest, negotiationBounds, ResumeRequest } from "./schema.ts";

/** The registry's own tools and resources, listed in the response. */
interface Offered {
  tools: readonly string[];
  resources: () => string[];
}

/** Opens a session by negotiation, or resumes one. */
export function negotiationRoutes(app: App, services: SessionsDeps, offered: Offered): void {
  app.post("/mcp/negotiate", async (c) => {
    readQuery(c, []);
    const principal = await admitNegotiator(c, services);
    const request = parseBody(NegotiationRequest, await readBody(c, services), "ErrorNegotiationInvalid");
    const opened = unwrap(await openSession(services, principal, request));
    return answerSession(c, services, principal, opened, offered);
  });

  app.post("/mcp/session/resume", async (c) => {
    readQuery(c, []);
    const principal = await admitNegotiator(c, services);
    const request = parseBody(ResumeRequest, await readBody(c, services), "ErrorNegotiationInvalid");
    const token = await readResumeToken(request.resume_token);
    const resumed = token && (await resumeSession(services, principal, token));
    if (resumed === undefined) throw requestError("ErrorResumeInvalid");
    return answerSession(c, services, principal, resumed, offered);
  });

  for (const path of ["/mcp/negotiate", "/mcp/session/resume"]) {
    app.all(path, () => {
      throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
    });
  }
}

/** Anyone may negotiate, but each session is a separate object, so negotiations are rate limited. */
async function admitNegotiator(c: RequestContext, services: SessionsDeps): Promise<Principal> {
  const principal = await authenticateOptional(c, services);
  consumeRateLimit(services, services.negotiateLimiter, principal.subject);
  return principal;
}

function readBody(c: RequestContext, { config }: SessionsDeps) {
  return readDocument(c, { bytes: negotiationBounds.bodyBytes, depth: config.bounds.depth });
}

function answerSession(
  c: RequestContext,
  services: SessionsDeps,
  principal: Principal,
  { session, resumeToken, extensions }: OpenedSession,
  offered: Offered,
): Response {
  const details = [...serverCapabilities(principal), ...sessionExtensions.map(detailOf)];
  const { negotiated, extensions: kept, ...shown } = sessionDocument(session);
  const body = {
    server_name: service,
    server_version: version,
    supported_capabilities: details.map(({ name }) => name),
    available_tools: offered.tools,
    available_resources: offered.resources(),
    capability_details: Object.fromEntries(details.map((detail) => [detail.name, detail])),
    // A resumed session shows its stored subset.
    extensions: extensions ?? kept ?? {},
    negotiated,
    session: { ...shown, resume_token: resumeToken },
  };
  return send(c, services, JSON.stringify(body), "application/json; charset=utf-8", {
    headers: { "X-MCP-Session-ID": session.id, "Cache-Control": "no-store" },
  });
}

/** An extension at its newest version. */
function detailOf({ name, description, versions }: (typeof sessionExtensions)[number]): CapabilityDetail {
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error(`${name} has no version`);
  return { name, description, ...newest };
}
