import type { Principal } from "../auth/principal.ts";
import { maxStreams } from "../changes/streams.ts";
import { resumeWindowMs } from "./lifetime.ts";
import type { Offer } from "./negotiate.ts";
import type { CapabilityDetail } from "./schema.ts";

/** Largest batch of tool calls; a client can negotiate a smaller one. */
export const maxBatch = 20;

const version = "1.0.0";

function offer(name: string, description: string, parameters?: Record<string, unknown>): Offer {
  return { name, description, versions: [parameters === undefined ? { version } : { version, parameters }] };
}

/** Client capabilities that the registry acts on. */
export const clientOffers: readonly Offer[] = [
  offer("sampling", "The client has a model that reads results: needed to call tools."),
  offer("notifications", "Changes to the session's capabilities come as they happen.", { max_streams: maxStreams }),
  offer("progress_tracking", "With streaming, a tool call tells how far it is."),
  offer("cancellation", "Leaving a tool call stops its work."),
  offer("streaming", "Answers may come as text/event-stream.", { formats: ["text/event-stream"] }),
  offer("batch_requests", "A tool call may carry a list of arguments.", { max_batch: maxBatch }),
  offer("session_resume", "The session can be taken up again after it expired.", {
    window_seconds: resumeWindowMs / 1_000,
  }),
];

/** Capabilities of the registry for this caller. Those that the caller may not use are left out. */
export function serverCapabilities(principal: Principal): CapabilityDetail[] {
  const detail = (name: string, description: string, parameters?: Record<string, unknown>): CapabilityDetail => ({
    name,
    version,
    description,
    parameters,
  });
  return [
    detail("tools", "The registry's own tools, called with POST /mcp/tool/{name}."),
    detail("resources", "The registry's own resources, read with GET /mcp/resource?uri=."),
    detail("prompts", "The registry's own prompts, got from POST /mcp with prompts/get."),
    detail("subscriptions", "Changes to the session's capabilities: GET /mcp/subscription/stream."),
    detail("streaming", "Progress of tool calls and changes as text/event-stream.", { formats: ["text/event-stream"] }),
    detail("notifications", "Changes as they happen, resumed by Last-Event-ID.", { max_streams: maxStreams }),
    detail("batch_operations", "Several calls of one tool in one request.", { max_batch: maxBatch }),
    ...(principal.tenants.length > 0 || principal.admin
      ? [detail("history", "Revisions, classified differences and the log of changes of your tenants.")]
      : []),
    ...(principal.admin ? [detail("metrics", "Counts, latency and cache sources: GET /api/metrics.")] : []),
  ];
}
