import { z } from "zod";
import { type RequestContext, RequestFailed, requestError, unwrap } from "../../http/context.ts";
import { sessionError } from "../../http/errors.ts";
import { wantsEvents } from "../../http/event-stream.ts";
import { log } from "../../http/observe.ts";
import { operation } from "../../http/operation.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { formatEvent } from "../../kernel/sse.ts";
import { afterNegotiating, inSession, sessionHeader } from "../../sessions/access.ts";
import { agreementOn, type Session } from "../../sessions/contract.ts";
import { maxBatch } from "../../sessions/offers.ts";
import { missingCapability } from "../../sessions/open.ts";
import type { McpDeps } from "../deps.ts";
import { ToolArguments, ToolList, ToolResult } from "../schema.ts";
import type { Progress, ToolContext } from "../tools/tool.ts";
import { callTool, listTools } from "../tools/tools.ts";

/** The registry's own tools over plain HTTP. Batches, progress and cancellation need the session's agreement. */

/** Work that reports progress. Must not throw, because the response has already started. */
type Reporting = (report: (progress: Progress) => void) => Promise<Result<unknown, Failure>>;

/** Runs work and streams server-sent events: `progress` events, then one `result` or `error`. */
function progressStream(
  work: Reporting,
  onDisconnect: () => void,
): { stream: ReadableStream<Uint8Array>; working: Promise<void> } {
  const encoder = new TextEncoder();
  const finished = Promise.withResolvers<void>();
  let left = false;
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (name: string, data: unknown) => {
        if (!left) controller.enqueue(encoder.encode(formatEvent({ name, data })));
      };
      const outcome = await work((progress) => send("progress", progress));
      if (outcome.ok) send("result", outcome.value);
      else send("error", sessionError(outcome.error));
      if (!left) controller.close();
      finished.resolve();
    },
    cancel() {
      left = true;
      onDisconnect();
    },
  });
  return { stream, working: finished.promise };
}

const listOwnTools = operation({
  id: "listTools",
  method: "get",
  path: "/mcp/tool",
  tag: "MCP",
  summary: "List the registry's own tools",
  access: inSession,
  errors: "session",
  parameters: { headers: sessionHeader },
  answers: { 200: { description: "The tools with their schemas.", json: ToolList } },
  examples: { all: {} },

  handle: (_: McpDeps, { answer }) => answer(200, { tools: [...listTools()] }),
});

const callOwnTool = operation({
  id: "callTool",
  method: "post",
  path: "/mcp/tool/{name}",
  tag: "MCP",
  summary: "Call one of the registry's own tools",
  description:
    "With its arguments, or with a list of them where the session has agreed on batches. Where it has agreed on " +
    "progress, `Accept: text/event-stream` gets events `progress`, then one `result` or `error`.",
  access: inSession,
  errors: "session",
  parameters: {
    path: { name: z.string().describe("Name of the tool.") },
    headers: sessionHeader,
  },
  body: {
    schema: ToolArguments,
    read: "document",
    limit: "configBytes",
    whenEmpty: {},
    invalid: "ErrorToolArguments",
  },
  answers: { 200: { description: "The result.", json: ToolResult, media: ["text/event-stream"] } },
  fails: [
    "ErrorToolNotFound",
    "ErrorToolCancelled",
    "ErrorTenantPermissionError",
    "ErrorMCPServerNotFound",
    "ErrorCapabilityNotFound",
    "resource_not_found",
    "ErrorRevisionNotFound",
    "ErrorCursorInvalid",
    "ErrorIndexTooLarge",
  ],
  examples: {
    search: {
      path: { name: "search_capabilities" },
      body: { task: "will it rain tomorrow", limit: 3 },
      ...afterNegotiating,
    },
  },

  async handle(services: McpDeps, { principal, session, path: { name }, body, c, answer }) {
    const [damage] = body.issues;
    if (damage !== undefined)
      throw requestError("ErrorInvalidBody", `${damage.path} ${damage.message}`, { issues: body.issues });
    const input = body.value;
    const batch = batchOf(input, session);
    const disconnected = new AbortController();
    const context: ToolContext = { services, principal };
    // A client cancels a JSON response by aborting the request, and a stream by closing the stream.
    if (session.held.includes("cancellation"))
      context.signal = AbortSignal.any([c.req.raw.signal, disconnected.signal]);
    const work = (report?: (progress: Progress) => void) =>
      batch === undefined
        ? callTool(name, input, report === undefined ? context : { ...context, report })
        : callSequentially(name, batch, context, report);
    const headers = { "Cache-Control": "no-store" };
    // Without cancellation a call runs to completion, even if the client disconnects.
    const keepAlive = (working: Promise<unknown>) => {
      if (context.signal === undefined) c.executionCtx.waitUntil(working);
    };
    if (wantsProgress(c, session)) {
      const { stream, working } = progressStream(withoutThrowing(c, work), () => disconnected.abort());
      keepAlive(working);
      return answer.raw(200, stream, { type: "text/event-stream; charset=utf-8", headers });
    }
    const working = work();
    keepAlive(working);
    return answer.raw(200, JSON.stringify(unwrap(await working)), { headers });
  },
});

/** An array of arguments is a batch. The client must have declared batches, and the negotiated length is the limit. */
function batchOf(input: unknown, session: Session): unknown[] | undefined {
  if (!Array.isArray(input)) return undefined;
  const agreement = agreementOn(session, "batch_requests");
  if (agreement === undefined) throw new RequestFailed(missingCapability("batch_requests"));
  const most = Math.max(0, Math.floor(Number(agreement.parameters?.max_batch ?? maxBatch)));
  if (input.length === 0) throw requestError("ErrorToolArguments", "The batch is empty");
  if (input.length > most) {
    throw requestError(
      "ErrorToolArguments",
      `A batch has at most ${most} items in this session; this one has ${input.length}`,
    );
  }
  return input;
}

/** Sequential, so that a batch gives no extra concurrency. Each item has its own result or error. */
async function callSequentially(
  name: string,
  batch: readonly unknown[],
  context: ToolContext,
  report?: (progress: Progress) => void,
): Promise<Result<unknown[], Failure>> {
  const answers: unknown[] = [];
  for (const [index, input] of batch.entries()) {
    if (context.signal?.aborted) return err(failure("ErrorToolCancelled"));
    const called = await callTool(name, input, context);
    answers.push(called.ok ? { result: called.value } : sessionError(called.error));
    report?.({ progress: index + 1, total: batch.length, message: `${index + 1} of ${batch.length} done` });
  }
  return ok(answers);
}

/** The response has already started, so the error handler cannot run: an exception is logged and becomes a failure. */
function withoutThrowing(c: RequestContext, work: Reporting): Reporting {
  return async (report) => {
    try {
      return await work(report);
    } catch (cause) {
      const { message, stack } = cause as Error;
      log(c, "error", { error: message, stack });
      return err(failure("ErrorInternalServer", `Internal error: see request ${c.get("requestId")} in the log`));
    }
  };
}

/** True if the client declared progress_tracking and streaming, and this request accepts text/event-stream. */
function wantsProgress(c: RequestContext, { held }: Session): boolean {
  const declared = held.includes("progress_tracking") && held.includes("streaming");
  return declared && wantsEvents(c);
}

export const toolsOperations = [listOwnTools, callOwnTool];
