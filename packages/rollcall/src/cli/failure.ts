import { isRollcallError, type RollcallError } from "../client/errors.ts";

/** Exit codes; docs/reference/cli.md has the table. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  found: 3,
  signIn: 4,
  unreachable: 5,
  interrupted: 130,
} as const;

interface FailureOptions {
  where?: string;
  hint?: string;
  exitCode?: number;
  code?: string;
  details?: unknown;
  /** Further lines, such as what a command wrote last. */
  lines?: string[];
}

/** Something that the person at the keyboard can put right: what, where, and what to do. */
export class CliError extends Error {
  readonly where: string | undefined;
  readonly hint: string | undefined;
  readonly exitCode: number;
  readonly code: string;
  readonly details: unknown;
  readonly lines: string[];

  constructor(
    message: string,
    { where, hint, exitCode = exitCodes.refused, code = "ErrorCommand", details, lines = [] }: FailureOptions = {},
  ) {
    super(message);
    this.where = where;
    this.hint = hint;
    this.exitCode = exitCode;
    this.code = code;
    this.details = details;
    this.lines = lines;
  }
}

/** The command line, or a local file that it names, is wrong. */
export class UsageError extends CliError {
  constructor(message: string, options: FailureOptions = {}) {
    super(message, { exitCode: exitCodes.usage, code: "ErrorUsage", ...options });
  }
}

/** What was asked to be an error was found: the command has printed it already. */
export class FoundError extends CliError {
  constructor(message: string, options: FailureOptions = {}) {
    super(message, { exitCode: exitCodes.found, code: "ErrorFound", ...options });
  }
}

const signInCodes = [
  "ErrorUnauthorized",
  "ErrorInsufficientScope",
  "ErrorTenantPermissionError",
  "ErrorTenantRequired",
  "ErrorInsecure",
];

export function exitCodeOf(error: RollcallError): number {
  if (error.status === 401 || signInCodes.includes(error.code)) return exitCodes.signIn;
  if (error.code === "ErrorBadUrl" || error.code === "ErrorBadName") return exitCodes.usage;
  if (error.status === 0 || error.status === 429 || error.status >= 500) return exitCodes.unreachable;
  return exitCodes.refused;
}

interface Issue {
  path?: string;
  message?: string;
}

/** Every bad part of a document, by its path. */
export function issueLines(details: unknown): string[] {
  const { issues, collisions, message } = (details ?? {}) as {
    issues?: Issue[];
    collisions?: { item: string; id: string; takenBy: string }[];
    message?: unknown;
  };
  const lines = typeof message === "string" ? [message] : [];
  for (const { path = "", message: text = "" } of Array.isArray(issues) ? issues : [])
    lines.push(`${path} ${text}`.trim());
  for (const { item, id, takenBy } of Array.isArray(collisions) ? collisions : []) {
    lines.push(`${item} has the id ${id}, which ${takenBy} has already`);
  }
  return [...new Set(lines)];
}

export interface ShownFailure {
  exitCode: number;
  code: string;
  status: number;
  message: string;
  where?: string;
  details?: unknown;
  hint?: string;
  requestId?: string;
  lines: string[];
}

/** Any thrown value as it is shown. A bug keeps its stack. */
export function shownFailure(error: unknown): ShownFailure {
  if (error instanceof CliError) {
    const { exitCode, code, message, where, details, lines } = error;
    const hint = error.hint ?? (code === "ErrorUsage" ? "Add --help to see how it is used." : undefined);
    return { exitCode, code, status: 0, message, where, details, hint, lines };
  }
  if (isRollcallError(error)) {
    const { code, status, message, details, requestId } = error;
    const lines = issueLines(details);
    return {
      exitCode: exitCodeOf(error),
      code,
      status,
      message,
      details,
      hint: hintOf(error),
      requestId,
      lines,
    };
  }
  const bug = error instanceof Error ? error : new Error(String(error));
  const known = { exitCode: exitCodes.refused, status: 0, lines: [] };
  // Answers are not validated member by member: one that lacks something fails where that is read.
  if (bug instanceof TypeError) {
    const hint =
      "rollcall doctor compares the versions. If they match, this is a bug in rollcall; --verbose shows where.";
    return { ...known, code: "ErrorUnexpectedAnswer", message: `An answer is not as expected: ${bug.message}`, hint };
  }
  const hint = "This is a bug in rollcall. --verbose shows where.";
  return { ...known, code: "ErrorBug", message: bug.message, hint };
}

/** What to do next, in commands. The registry's own hints name requests. */
const hints: Record<string, string> = {
  ErrorUnreachable: "Check the address with rollcall doctor, or name it with --url.",
  ErrorTimeout: "Try again, or allow more time with --timeout SECONDS.",
  ErrorInsufficientScope: "Sign in with a token that has this scope; rollcall whoami shows what yours has.",
  ErrorMCPServerNotFound: "rollcall list shows which servers there are.",
  ErrorCapabilityNotFound: "rollcall show T/NAME lists what a server has.",
  ErrorRevisionNotFound: "rollcall history T/NAME lists those that are kept.",
  ErrorHookNotFound: "rollcall hooks list T shows the hooks of a tenant.",
  ErrorSubscriptionNotFound: "rollcall subscriptions list T shows the subscriptions of a tenant.",
  ErrorMCPServerExists: "Change it with rollcall server edit T/NAME, or delete it with rollcall server delete T/NAME.",
  ErrorCapabilityCollision: "Set another id, or leave the item out with --partial.",
  ErrorSameVersion: "Raise the version in the manifest; the server's policy asks for it.",
  ErrorNoSources: "Add one with rollcall server edit T/NAME --source URL, or publish a manifest.",
  ErrorTooManySubscriptions: "Remove one first: rollcall subscriptions remove T/ID",
  ErrorTooManyHooks: "Remove one first: rollcall hooks remove T/ID",
  ErrorMCPServerValidation: "Correct these items, or publish the others with --partial.",
  ErrorSourceUnavailable: "rollcall server refresh T/NAME reads its sources again, and says what they answered.",
};

function hintOf({ code, status, hint }: RollcallError): string | undefined {
  if (Object.hasOwn(hints, code)) return hints[code];
  if (code === "ErrorTenantPermissionError")
    return (
      hint?.replace("GET /api/whoami", "rollcall whoami") ?? "rollcall whoami shows which tenants your token is for."
    );
  if (hint !== undefined) return hint;
  if (status === 401) return "Sign in with rollcall login.";
  if (status === 429 || status >= 500) return "Try again later; nothing was changed.";
  if (status === 404) return "rollcall list shows which servers there are.";
  return undefined;
}
