import type { z } from "zod";
import { checkScope, type Principal } from "../../auth/principal.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import type { Issue } from "../../kernel/issue.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { zodIssues } from "../../kernel/zod-issues.ts";
import type { McpDeps } from "../deps.ts";

/** A name in the arguments can be as long as they are, and what is said about it must not be. */
const maxMessageLength = 300;

/** Arguments as a tool takes them, or every reason why not, with path and rule. None given is the same as none needed. */
export function readArguments<Input extends z.ZodObject>(
  tool: string,
  input: Input,
  value: unknown,
): Result<z.output<Input>, Failure> {
  const given = value === undefined ? {} : value;
  const parsed = input.safeParse(given);
  if (parsed.success) return ok(parsed.data);
  const known = Object.keys(input.shape).join(", ");
  const issues = zodIssues(input, given, "").map(({ path, rule, message }): Issue => {
    const hint = rule === "unrecognized_keys" && path === "" ? `; known: ${known}` : "";
    return { path, rule, message: `${message.slice(0, maxMessageLength).toWellFormed()}${hint}` };
  });
  const [first] = issues;
  const where = first === undefined || first.path === "" ? "" : `${first.path} `;
  return err(failure("ErrorToolArguments", `Invalid arguments for ${tool}: ${where}${first?.message}`, { issues }));
}

export interface Progress {
  progress: number;
  total?: number;
  message: string;
}

/** Who calls a tool, and what their client can take besides the answer. */
export interface ToolContext {
  services: McpDeps;
  principal: Principal;
  /** Present only for clients that asked for and may get it. */
  report?: (progress: Progress) => void;
  /** Present only for clients that may cancel. */
  signal?: AbortSignal;
}

/** Hints as MCP has them. Whatever is not said, a client takes for the worst. */
export interface ToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint: boolean;
}

/** One of the registry's own tools, whatever it is called through. */
export interface OwnTool {
  name: string;
  title: string;
  /** Every client that lists the tools pays for it in tokens. */
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  annotations: ToolAnnotations;
  /** Takes arguments as they come. What is wrong with them is a failure like any other. */
  run(input: unknown, context: ToolContext): Promise<Result<object, Failure>>;
}

/** A tool as it is written: its arguments have been read, and its answer must have the form it announces. */
export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject>
  extends Omit<OwnTool, "input" | "output" | "run"> {
  input: Input;
  output: Output;
  run(input: z.output<Input>, context: ToolContext): Promise<Result<z.input<Output>, Failure>>;
}

/** Permission comes before the arguments: who may not call learns nothing of what a call needs. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): OwnTool {
  return {
    ...definition,
    async run(input, context) {
      const error = checkScope(context.principal, "registry:read") ?? cancellation(context);
      if (error !== undefined) return err(error);
      const given = readArguments(definition.name, definition.input, input);
      return given.ok ? definition.run(given.value, context) : given;
    },
  };
}

/** Says how far a call is; an objection when its client has given it up. */
export function advance(context: ToolContext, done: number, total: number, message: string): Failure | undefined {
  const stopped = cancellation(context);
  if (stopped === undefined) context.report?.({ progress: done, total, message });
  return stopped;
}

function cancellation({ signal }: ToolContext): Failure | undefined {
  return signal?.aborted ? failure("ErrorToolCancelled") : undefined;
}
