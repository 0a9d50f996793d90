import { z } from "zod";
import { named } from "../http/named.ts";
import { SessionError } from "../http/openapi/error-schema.ts";

/** Schemas of what the MCP endpoint, and the tools over plain HTTP, take and answer. */

const id = z.union([z.string(), z.number()]);

export const RpcMessage = named(
  "RpcMessage",
  z
    .looseObject({
      jsonrpc: z.literal("2.0"),
      id: id.optional().describe("Absent in a notification."),
      method: z.string(),
      params: z.looseObject({}).optional(),
    })
    .describe("A JSON-RPC request or notification of MCP."),
);

export const RpcResponse = named(
  "RpcResponse",
  z
    .object({
      jsonrpc: z.literal("2.0"),
      id: id.nullish(),
      result: z.looseObject({}).optional(),
      error: z.object({ code: z.int(), message: z.string(), data: z.unknown() }).optional(),
    })
    .describe("A JSON-RPC response: a result, or an error."),
);

const JsonSchema = z.looseObject({ type: z.literal("object") });
export type JsonSchema = z.infer<typeof JsonSchema>;

export const ListedTool = named(
  "ListedTool",
  z
    .object({
      name: z.string(),
      title: z.string(),
      description: z.string(),
      inputSchema: JsonSchema,
      outputSchema: JsonSchema,
      annotations: z
        .object({
          readOnlyHint: z.boolean(),
          destructiveHint: z.boolean().optional(),
          idempotentHint: z.boolean().optional(),
          openWorldHint: z.boolean(),
        })
        .describe("Clients assume the worst for an absent hint."),
    })
    .describe("A tool as MCP lists it."),
);
export type ListedTool = z.infer<typeof ListedTool>;

export const ToolList = named(
  "ToolList",
  z.object({ tools: z.array(ListedTool) }).describe("The registry's own tools."),
);

const fields = z.record(z.string(), z.unknown());

export const ToolArguments = named(
  "ToolArguments",
  z.union([fields, z.array(fields)]).describe("Arguments as the tool's inputSchema says, or a list of them."),
);

const BatchItem = z.union([z.object({ result: fields }), SessionError]);

export const ToolResult = named(
  "ToolResult",
  z
    .union([fields, z.array(BatchItem)])
    .describe("As the tool's outputSchema says; for a list of arguments a list of results and errors."),
);
