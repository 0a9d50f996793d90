import { isObject } from "../kernel/json.ts";
import type { Era } from "../registry/contract.ts";
import type { DeclaredItem, SourceRequest } from "./contract.ts";
import type * as Sdk from "./mcp-sdk.ts";
import type { Traffic } from "./mcp-traffic.ts";

type AnyTransport = (Sdk.StreamableHTTPClientTransport | Sdk.SSEClientTransport) & Pick<Sdk.Transport, "sessionId">;

/** Creates the SDK's transport for an era. All requests go through `traffic`. */
export function createTransport(sdk: typeof Sdk, request: SourceRequest, era: Era, { fetch }: Traffic) {
  const url = new URL(request.url);
  const requestInit = { headers: request.headers };
  if (era === "sse") {
    const transport: AnyTransport = new sdk.SSEClientTransport(url, { fetch, requestInit });
    // The session ends when the stream closes.
    return { transport, endSession: async () => {} };
  }
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit,
    fetch: async (input, init) => {
      // After the handshake the SDK opens a stream for notifications. Nothing here reads them, and connections are
      // scarce.
      const isIdleStream = init?.method === "GET" && !new Headers(init.headers).has("last-event-id");
      return isIdleStream ? new Response(null, { status: 405 }) : fetch(input, init);
    },
  });
  const endSession = async () => {
    const { sessionId, protocolVersion } = transport;
    if (sessionId === undefined) return;
    // A failed handshake closes its transport, which can then send nothing; a new transport ends the session.
    const version = protocolVersion === undefined ? {} : { protocolVersion };
    const last = new sdk.StreamableHTTPClientTransport(url, { requestInit, fetch, sessionId, ...version });
    await last.terminateSession();
  };
  return { transport: transport as AnyTransport, endSession };
}

/** Key of the unchanged result, next to the fields that the SDK requires. */
const declaredResult = "dev.rollcall/declared";

/**
 * The SDK validates a page as a whole: one item without a name, or a missing cache hint, fails the page. It also drops
 * keys that it does not know. So each result is wrapped before the SDK validates it, next to empty lists that are
 * valid. `resultType` is kept, because the SDK tells the eras apart by it.
 */
export function captureRawResults(transport: AnyTransport) {
  let isStarted = false;
  transport.onmessage = (message: Sdk.JSONRPCMessage) => {
    if (!isStarted || !("result" in message)) return;
    const { result } = message;
    if (result.resultType === "input_required") return;
    message.result = {
      ...("resultType" in result ? { resultType: result.resultType } : {}),
      ...{ tools: [], prompts: [], resources: [], resourceTemplates: [], ttlMs: 0, cacheScope: "private" },
      [declaredResult]: result,
    };
  };
  return {
    start: () => {
      isStarted = true;
    },
    declared: (answer: Record<string, unknown>): DeclaredItem => {
      const declared = answer[declaredResult];
      return isObject(declared) ? declared : {};
    },
  };
}
