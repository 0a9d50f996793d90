import { history } from "../../client/read.ts";
import type { Context } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";

const mostPages = 10;

/** The digest that a person means by `current`, `previous`, a revision's number, or the start of a digest. */
export async function resolveDigest(context: Context, server: string, text: string): Promise<string> {
  const wanted = text.replace(/…$/, "");
  if (/^sha256-[0-9a-f]{64}$/.test(wanted)) return wanted;
  const prefix = wanted.startsWith("sha256-") ? wanted : `sha256-${wanted}`;
  const isNumber = /^\d{1,5}$/.test(wanted);
  if (!["current", "previous"].includes(wanted) && !isNumber && !/^sha256-[0-9a-f]{4,63}$/.test(prefix)) {
    throw new UsageError(`"${text}" is not a revision`, {
      hint: "Name it by its number, by four or more digits of its digest, or as current or previous.",
    });
  }
  const matches = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await history(context.connection(), server, { limit: 100, cursor, signal: context.signal });
    if (wanted === "current" && page.current !== null) return page.current;
    if (wanted === "previous" && page.items[1] !== undefined) return page.items[1].digest;
    for (const { number, digest } of page.items) {
      if (isNumber && number === Number(wanted)) return digest;
      if (digest.startsWith(prefix)) matches.add(digest);
    }
    cursor = page.nextCursor;
    if (cursor === undefined || wanted === "previous" || wanted === "current") break;
  }
  const [only, ...others] = matches;
  if (only !== undefined && others.length === 0) return only;
  const what =
    only === undefined ? `has no revision "${text}"` : `has ${matches.size} revisions that begin with "${text}"`;
  throw new CliError(`${server} ${what}`, {
    hint: `rollcall history ${server} lists them.`,
    code: "ErrorRevisionNotFound",
  });
}
