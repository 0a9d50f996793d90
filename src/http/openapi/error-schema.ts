import { z } from "zod";
import type { ErrorShape } from "../context.ts";
import { named } from "../named.ts";

/** Error responses as OpenAPI and the tests know them. The code that sends them is errors.ts. */

const Issue = named(
  "Issue",
  z
    .object({
      path: z.string().describe("JSON Pointer (RFC 6901) into the document."),
      rule: z.string(),
      message: z.string(),
    })
    .describe("One problem of a document."),
);

const ErrorDetails = named(
  "ErrorDetails",
  z
    .looseObject({
      message: z.string().optional().describe("The reason, where the error's own message is fixed."),
      hint: z.string().optional().describe("What to do next."),
      issues: z.array(Issue).optional(),
      bound: z
        .object({ name: z.string(), limit: z.number().optional(), found: z.number().optional() })
        .optional()
        .describe("The bound that the request met, its limit, and how much the request has."),
      setting: z.string().optional().describe("The operator's setting that raises the bound."),
    })
    .describe("What a program needs to know of an error; members depend on the code."),
);

const code = z.string().describe("Fixed name of the failure.");

export const ApiError = named(
  "ApiError",
  z
    .object({
      success: z.literal(false),
      error: z.object({ code, message: z.string(), details: ErrorDetails.optional() }),
    })
    .describe("An error of the API."),
);

export const SessionError = named(
  "SessionError",
  z
    .object({ error: z.string().describe("The message."), code, details: ErrorDetails.optional() })
    .describe("An error below /mcp/."),
);

export const Problem = named(
  "Problem",
  z
    .object({
      title: z.string(),
      status: z.int(),
      detail: z.string(),
      errors: z.array(z.object({ message: z.string(), location: z.string().optional() })),
      error: z.string().describe("The same as `detail`, for clients that read this member."),
      code,
      details: ErrorDetails.optional(),
    })
    .describe("Problem details (RFC 9457)."),
);

export const RpcError = named(
  "RpcError",
  z
    .object({
      jsonrpc: z.literal("2.0"),
      id: z.union([z.string(), z.number(), z.null()]),
      error: z.object({
        code: z.int(),
        message: z.string(),
        data: z
          .looseObject({ code: code.optional(), details: ErrorDetails.optional() })
          .optional()
          .describe("Without `code` in errors of the protocol itself."),
      }),
    })
    .describe("A JSON-RPC error."),
);

interface ErrorFormat {
  schema: z.ZodType;
  name: string;
  media: string;
  /** Where in the body the failure's code is. */
  code: string[];
  /** Of the names of its errors in OpenAPI. */
  prefix: string;
}

export const errorShapes: Record<ErrorShape, ErrorFormat> = {
  api: { schema: ApiError, name: "ApiError", media: "application/json", code: ["error", "code"], prefix: "" },
  session: {
    schema: SessionError,
    name: "SessionError",
    media: "application/json",
    code: ["code"],
    prefix: "Session",
  },
  problem: { schema: Problem, name: "Problem", media: "application/problem+json", code: ["code"], prefix: "Problem" },
  rpc: {
    schema: RpcError,
    name: "RpcError",
    media: "application/json",
    code: ["error", "data", "code"],
    prefix: "Rpc",
  },
};
