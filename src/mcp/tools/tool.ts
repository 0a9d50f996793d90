import type { z } from "zod";
import { checkScope, type Principal } from "../../auth/principal.ts";
import { withOtherSpellings } from "../../http/other-spellings.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import type { Issue } from "../../kernel/issue.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { zodIssues } from "../../kernel/zod-issues.ts";
import type { McpDeps } from "../deps.ts";
import type { ListedTool } from "../schema.ts";

/** Messages are truncated, because they can quote argument names of any length. */
const maxMessageLength = 300;

/** Parsed arguments, or all issues with path and rule. Absent arguments count as {}. */
function readArguments<Input extends z.ZodObject>(
  { name: tool, input, accepted }: { name: string; input: Input; accepted: z.ZodPreprocess<Input> },
  value: unknown,
): Result<z.output<Input>, Failure> {
  const given = value === undefined ? {} : value;
  const parsed = accepted.safeParse(given);
  if (parsed.success) return ok(parsed.data);
  const known = Object.keys(input.shape).join(", ");
  const issues = zodIssues(accepted, given, "").map(({ path, rule, message }): Issue => {
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

/** The caller of a tool, and whether its client gets progress and may cancel. */
export interface ToolContext {
  services: McpDeps;
  principal: Principal;
  /** Present only if the client requested progress and may get it. */
  report?: (progress: Progress) => void;
  /** Present only if the client may cancel. */
  signal?: AbortSignal;
}

/** What a tool gets besides its arguments. */
export interface ToolCall extends ToolContext {
  /** All tools, as clients see them. */
  tools: readonly ListedTool[];
}

/** One of the registry's own tools, independent of the transport. */
export interface OwnTool {
  name: string;
  title: string;
  /** Every client that lists the tools pays for the description in tokens. */
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  annotations: ListedTool["annotations"];
  /** Takes unvalidated arguments; invalid arguments return a failure. */
  run(input: unknown, context: ToolCall): Promise<Result<object, Failure>>;
}

/** A tool as defined in code: `run` gets parsed arguments, and its result must match the output schema. */
interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject>
  extends Omit<OwnTool, "input" | "output" | "run"> {
  input: Input;
  /** Accepted spellings of arguments, which are not listed: clients would pay for them in tokens. */
  spellings?: Readonly<Record<string, readonly string[]>>;
  output: Output;
  run(input: z.output<Input>, context: ToolCall): Promise<Result<z.input<Output>, Failure>>;
}

/** Checks permission before arguments, so that a caller without permission learns nothing about the arguments. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): OwnTool {
  const { name, input: declared, spellings = {} } = definition;
  const accepted = withOtherSpellings(declared, spellings);
  return {
    ...definition,
    async run(input, context) {
      const error = checkScope(context.principal, "registry:read") ?? cancellation(context);
      if (error !== undefined) return err(error);
      const given = readArguments({ name, input: declared, accepted }, input);
      return given.ok ? definition.run(given.value, context) : given;
    },
  };
}

/** Reports progress; returns a failure if the client has cancelled the call. */
export function advance(context: ToolContext, done: number, total: number, message: string): Failure | undefined {
  const stopped = cancellation(context);
  if (stopped === undefined) context.report?.({ progress: done, total, message });
  return stopped;
}

function cancellation({ signal }: ToolContext): Failure | undefined {
  return signal?.aborted ? failure("ErrorToolCancelled") : undefined;
}
