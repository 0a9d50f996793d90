import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { service, version } from "../../kernel/version.ts";
import { staticHint } from "./cache-hints.ts";
import type { McpCaller } from "./caller.ts";
import type { Handlers } from "./handlers.ts";
import { isMissingResource, RpcError, withLegacyCode } from "./rpc-error.ts";

/** Creates the handlers for a caller. Tests may add handlers to the registry's own. */
type HandlersFor = (caller: McpCaller) => Handlers;

/** Capabilities and methods that only tests add; `legacy…` only for clients of the 2025 revisions. */
interface TestExtras {
  capabilities?: Record<string, object>;
  legacyCapabilities?: Record<string, object>;
  legacyHandlers?: Record<string, () => Promise<object>>;
}

export interface EndpointOptions {
  handlersFor: HandlersFor;
  testExtras?: TestExtras;
}

/** One accepted HTTP request with its parsed body and its caller. */
export interface Exchange {
  request: Request;
  body: unknown;
  caller: McpCaller;
  /** Logs an unexpected error and returns the message for the client. */
  reportInternalError: (cause: unknown) => string;
}

const instructions =
  "A registry of what MCP servers and APIs can do. Start with search_capabilities, read one with get_capability, then call it at its publisher's own server. The prompt discover shows the whole way.";

/**
 * Serves revision 2026-07-28 and, without sessions, the 2025 revisions. Each request gets a new SDK server, so that no
 * state of one caller can leak to another.
 */
export async function serveMcp(
  { handlersFor, testExtras = {} }: EndpointOptions,
  exchange: Exchange,
): Promise<Response> {
  const sdk = await import("./sdk.ts");
  const { request, body, caller, reportInternalError } = exchange;
  let isMissing = false;
  let needsCode = false;
  const handler = sdk.createMcpHandler(
    ({ era }) => {
      const legacy = era === "legacy";
      needsCode = legacy && (body as { method?: unknown }).method === "resources/read";
      const capabilities = {
        ...capabilitiesIn(era),
        ...testExtras.capabilities,
        ...(legacy ? testExtras.legacyCapabilities : {}),
      };
      const cacheHints = { "server/discover": staticHint };
      const server = new sdk.Server(
        { name: service, title: "Rollcall", version },
        { capabilities, cacheHints, instructions },
      );
      for (const [method, handle] of Object.entries({
        ...handlersFor(caller),
        ...(legacy ? testExtras.legacyHandlers : {}),
      })) {
        registerHandler(server, method, handle as Handle, (cause) => {
          // Messages of internal errors must not reach clients.
          const error = cause instanceof RpcError ? cause : new RpcError(-32_603, reportInternalError(cause));
          isMissing ||= legacy && isMissingResource(method, error);
          return error;
        });
      }
      return server;
    },
    { keepAliveMs: 15_000 },
  );
  const response = await handler.fetch(request, { parsedBody: body });
  return needsCode ? withLegacyCode(response, () => isMissing) : response;
}

/** Legacy clients cannot subscribe. Tools and prompts change only with a deployment, so they have no listChanged. */
function capabilitiesIn(era: "legacy" | "modern") {
  const listening = era === "modern" ? { subscribe: true, listChanged: true } : {};
  return { tools: {}, prompts: {}, completions: {}, resources: listening };
}

type Handle = (params: object, context: ServerContext) => Promise<object>;

function registerHandler(server: Server, method: string, handle: Handle, errorOf: (cause: unknown) => RpcError): void {
  server.setRequestHandler(method as "tools/list", async ({ params }, context) => {
    try {
      return (await handle(params ?? {}, context)) as never;
    } catch (cause) {
      throw errorOf(cause);
    }
  });
}
