import { requestError, unwrap } from "../../http/context.ts";
import { operation } from "../../http/operation.ts";
import { negotiator } from "../access.ts";
import { NegotiationResponse } from "../answer-schema.ts";
import type { SessionsDeps } from "../deps.ts";
import { describeSession } from "../describe.ts";
import { type OpenedSession, openSession, resumeSession } from "../open.ts";
import { readResumeToken } from "../resume-token.ts";
import { NegotiationRequest, negotiationBounds, ResumeRequest } from "../schema.ts";

const answers = {
  200: {
    description: "The session.",
    json: NegotiationResponse,
    headers: { "X-MCP-Session-ID": "Id of the session, for the requests in it." },
  },
} as const;

const negotiate = operation({
  id: "negotiate",
  method: "post",
  path: "/mcp/negotiate",
  tag: "Sessions",
  summary: "Open a session",
  description: "Says what the client can do and what it would like; answers what both sides have in common.",
  access: negotiator,
  errors: "session",
  body: { schema: NegotiationRequest, limit: negotiationBounds.bodyBytes, invalid: "ErrorNegotiationInvalid" },
  answers,
  fails: ["ErrorCapabilityRequired", "ErrorCapabilityDeclined"],
  examples: {
    context: {
      summary: "With the capabilities that fit a task and a budget",
      body: {
        client_name: "example",
        client_version: "1.0.0",
        supported_capabilities: ["sampling", "notifications", "session_resume", "dev.rollcall/context"],
        extensions: { "dev.rollcall/context": { task: "will it rain tomorrow", budget: 2_000 } },
      },
    },
  },

  async handle(services: SessionsDeps, { principal, body, answer }) {
    const opened = unwrap(await openSession(services, principal, body));
    return answer(200, describeSession(services, principal, opened), metaOf(opened));
  },
});

const resume = operation({
  id: "resumeSession",
  method: "post",
  path: "/mcp/session/resume",
  tag: "Sessions",
  summary: "Take up a session again",
  description: "Under a new id, once; also after it expired.",
  access: negotiator,
  errors: "session",
  body: { schema: ResumeRequest, limit: negotiationBounds.bodyBytes, invalid: "ErrorNegotiationInvalid" },
  answers,
  fails: ["ErrorResumeInvalid"],
  examples: {
    negotiated: {
      body: { resume_token: "session.resume_token of the negotiation" },
      after: {
        id: "negotiate",
        take: ({ body }: { body: unknown }) => {
          const { session } = body as NegotiationResponse;
          return { resume_token: session.resume_token ?? "" };
        },
      },
    },
  },

  async handle(services: SessionsDeps, { principal, body, answer }) {
    const token = await readResumeToken(body.resume_token);
    const resumed = token && unwrap(await resumeSession(services, principal, token));
    if (resumed === undefined) throw requestError("ErrorResumeInvalid");
    return answer(200, describeSession(services, principal, resumed), metaOf(resumed));
  },
});

function metaOf({ session }: OpenedSession) {
  return { headers: { "X-MCP-Session-ID": session.id, "Cache-Control": "no-store" } };
}

export const negotiateOperations = [negotiate, resume];
