import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  ReadResourceResult,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { Failure } from "../../kernel/failure.ts";
import { listResources, listResourceTemplates, ownResources, readResource } from "../resources/resources.ts";
import type { Progress, ToolContext } from "../tools/tool.ts";
import { callTool, listTools } from "../tools/tools.ts";
import { resourceHint, resourceListHint, staticHint } from "./cache-hints.ts";
import type { McpCaller } from "./caller.ts";
import { type CompletionRequest, complete } from "./complete.ts";
import { listPage, positionKey } from "./lists.ts";
import { getPrompt, ownPrompts } from "./prompts.ts";

interface Paged {
  cursor?: string | undefined;
}

/** MCP methods that the registry implements. The SDK has parsed their parameters. */
export interface Handlers {
  "tools/list"(params: Paged): Promise<ListToolsResult>;
  "tools/call"(params: { name: string; arguments?: unknown }, context: ServerContext): Promise<CallToolResult>;
  "resources/list"(params: Paged): Promise<ListResourcesResult>;
  "resources/templates/list"(params: Paged): Promise<ListResourceTemplatesResult>;
  "resources/read"(params: { uri: string }): Promise<ReadResourceResult>;
  "prompts/list"(params: Paged): Promise<ListPromptsResult>;
  "prompts/get"(
    params: { name: string; arguments?: Record<string, string> | undefined },
    context: ServerContext,
  ): Promise<GetPromptResult>;
  "completion/complete"(params: CompletionRequest): Promise<CompleteResult>;
}

/** The registry's handlers for one caller, for all supported protocol revisions. */
export function ownHandlers(caller: McpCaller): Handlers {
  const { services, principal } = caller;
  return {
    async "tools/list"({ cursor }) {
      const page = caller.unwrap(await listPage(caller, "tools", cursor, listTools(), positionKey));
      return { tools: page.items, ...nextCursorOf(page), ...staticHint } as ListToolsResult;
    },
    async "tools/call"({ name, arguments: given }, context) {
      const called = await callTool(name, given, toolContext(caller, context));
      if (called.ok) {
        const structuredContent = called.value as Record<string, unknown>;
        return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
      }
      if (["ErrorToolNotFound", "ErrorUnauthorized"].includes(called.error.code)) throw caller.refusal(called.error);
      return failedCall(called.error);
    },
    async "resources/list"({ cursor }) {
      const { resources: listed, cuts } = await listResources(services, principal);
      // The registry's own resources in the order of `ownResources`, then indexes by URI.
      const keyOf = ({ uri }: { uri: string }, index: number) =>
        index < ownResources.length ? `0 ${positionKey(uri, index)}` : `1 ${uri}`;
      const page = caller.unwrap(await listPage(caller, "resources", cursor, listed, keyOf));
      const _meta = cuts === undefined ? undefined : { "dev.rollcall/leftOut": cuts };
      const hint = resourceListHint(principal);
      return { resources: page.items, ...nextCursorOf(page), ...hint, _meta } as ListResourcesResult;
    },
    async "resources/templates/list"({ cursor }) {
      const listed = await listResourceTemplates(services, principal);
      const page = caller.unwrap(await listPage(caller, "templates", cursor, listed, positionKey));
      const hint = resourceListHint(principal);
      return { resourceTemplates: page.items, ...nextCursorOf(page), ...hint } as ListResourceTemplatesResult;
    },
    async "resources/read"({ uri }) {
      const { mimeType, text, etag, generation } = caller.unwrap(await readResource(services, principal, uri), { uri });
      const isKnown = etag !== undefined || generation !== undefined;
      const _meta = isKnown ? { "dev.rollcall/version": { etag, generation } } : undefined;
      return { contents: [{ uri, mimeType, text, _meta }], ...resourceHint(principal, uri) } as ReadResourceResult;
    },
    async "prompts/list"({ cursor }) {
      const listed = ownPrompts.map(({ messages: _, ...prompt }) => prompt);
      const page = caller.unwrap(await listPage(caller, "prompts", cursor, listed, positionKey));
      return { prompts: page.items, ...nextCursorOf(page), ...staticHint } as ListPromptsResult;
    },
    "prompts/get": ({ name, arguments: given }) => getPrompt(caller, name, given),
    async "completion/complete"(request) {
      return { completion: { ...(await complete(caller, request)) } };
    },
  };
}

function nextCursorOf({ nextCursor }: { nextCursor?: string }): { nextCursor?: string } {
  return nextCursor === undefined ? {} : { nextCursor };
}

/** A result with isError, not a JSON-RPC error: a model can read the reason and try again. */
function failedCall({ code, message, details }: Failure): CallToolResult {
  const error = { code, message, details };
  return { isError: true, content: [{ type: "text", text: JSON.stringify({ error }) }] };
}

/** Progress is sent only if the client gave a progressToken. A call is aborted if its client disconnects or cancels. */
function toolContext({ services, principal }: McpCaller, { mcpReq }: ServerContext): ToolContext {
  const progressToken = mcpReq._meta?.progressToken;
  const context: ToolContext = { services, principal, signal: mcpReq.signal };
  if (progressToken === undefined) return context;
  const report = (progress: Progress) => {
    // A notification to a disconnected client fails; the call must not fail with it.
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } }).catch(() => {});
  };
  return { ...context, report };
}
