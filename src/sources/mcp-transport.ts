import { isObject } from "../kernel/json.ts";
import type { Era } from "../registry/contract.ts";
import type { DeclaredItem, SourceRequest } from "./contract.ts";
import type * as Sdk from "./mcp-sdk.ts";
import type { Traffic } from "./mcp-traffic.ts";

export type AnyTransport = (Sdk.StreamableHTTPClientTransport | Sdk.SSEClientTransport) &
  Pick<Sdk.Transport, "sessionId">;

/** The SDK's transport for an era, all of whose requests go through the traffic. */
export function createTransport(sdk: typeof Sdk, request: SourceRequest, era: Era, { fetch }: Traffic) {
  const url = new URL(request.url);
  const requestInit = { headers: request.headers };
  if (era === "sse") {
    const transport: AnyTransport = new sdk.SSEClientTransport(url, { fetch, requestInit });
    // Its session is the stream.
    return { transport, endSession: async () => {} };
  }
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit,
    fetch: async (input, init) => {
      // After the handshake the SDK opens a stream for notifications. Nobody here listens, and connections are few.
      const isIdleStream = init?.method === "GET" && !new Headers(init.headers).has("last-event-id");
      return isIdleStream ? new Response(null, { status: 405 }) : fetch(input, init);
    },
  });
  const endSession = async () => {
    const { sessionId, protocolVersion } = transport;
    if (sessionId === undefined) return;
    // A handshake that fails closes its transport, which then sends nothing more, and the session would be left.
    const version = protocolVersion === undefined ? {} : { protocolVersion };
    const last = new sdk.StreamableHTTPClientTransport(url, { requestInit, fetch, sessionId, ...version });
    await last.terminateSession();
  };
  return { transport: transport as AnyTransport, endSession };
}

/** Under its own name beside what the SDK asks of a list. */
const declaredResult = "dev.rollcall/declared";

/**
 * The SDK judges a page as a whole: one item without a name, or a missing cache hint, and the page is lost. In its own
 * lists it also leaves out the keys that it does not know. So results are put aside before it sees them, behind empty
 * lists that pass. `resultType` stays, because it tells the eras apart.
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
