import { readFileSync } from "node:fs";
import { bodyOf } from "../../client/connection.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../failure.ts";
import { printableJson, printableLines } from "../terminal/printable.ts";
import { readStdin } from "../terminal/prompt.ts";

interface ApiFlags {
  data?: string;
  type?: string;
  header?: string[];
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Any request, with the login's token. The whole answer, envelope included. */
export async function api(context: Context, [method = "", path = ""]: string[], flags: ApiFlags): Promise<void> {
  const verb = method.toUpperCase();
  if (!methods.includes(verb)) throw new UsageError(`${method} is none of: ${methods.join(", ")}`);
  if (!path.startsWith("/"))
    throw new UsageError(`"${path}" is not a path`, { hint: "It begins with a slash, such as /api/whoami." });
  const headers: Record<string, string> = {};
  for (const line of flags.header ?? []) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`--header "${line}" is not "Name: value"`);
    headers[name] = value;
  }
  if (flags.type !== undefined) headers["Content-Type"] = flags.type;
  const body = flags.data === undefined ? undefined : await readBody(flags.data);
  const response = await context
    .connection()
    .send(verb, path, { body, headers, signal: context.signal })
    .catch((error: unknown) => {
      throw context.signInError(error);
    });
  if (context.out.isVerbose) for (const [name, value] of response.headers) context.out.error(`  ${name}: ${value}`);
  const answer = await bodyOf(response);
  if (answer === "") return;
  process.stdout.write(`${typeof answer === "string" ? printableLines(answer.trimEnd()) : printableJson(answer, 2)}\n`);
}

async function readBody(data: string): Promise<string> {
  if (data === "-") return readStdin();
  if (!data.startsWith("@")) return data;
  try {
    return readFileSync(data.slice(1), "utf8");
  } catch (error) {
    throw new UsageError(`The file ${data.slice(1)} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
