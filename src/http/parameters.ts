import { z } from "zod";
import type { FailureCode } from "../kernel/failure.ts";
import { ServerName, TenantKey } from "../kernel/names.ts";
import { parseRfc3339 } from "../kernel/time.ts";
import { requestError } from "./context.ts";
import { type DirectoryState, parseState } from "./directory-state.ts";
import { type Freshness, serverName, tenantName } from "./request.ts";

/** What a parameter's schema cannot say about reading it. */
interface ParameterTraits {
  /** Reads the text instead of zod: faster, or with failures of its own. */
  read?: (text: string, name: string) => unknown;
  /** Failures that an operation may answer with because it has this parameter. */
  fails?: readonly FailureCode[];
  /** Message for a required parameter that is absent or empty, after its name. */
  missing?: string;
  /** Of a list: one text may hold several values, separated by commas. */
  commas?: true;
  /** Taken note of, but not described. */
  hidden?: true;
  /** As the official registry reads it: of several values the first counts, and an empty one is as good as none. */
  lenient?: true;
}

/** By schema; a schema derived by `.describe()` or `.meta()` has the traits of the one before. */
export const traits = z.registry<ParameterTraits>();

export function withTraits<Schema extends z.ZodType>(schema: Schema, given: ParameterTraits): Schema {
  traits.add(schema as z.ZodType, given);
  return schema;
}

withTraits(TenantKey, { read: tenantName, fails: ["ErrorTenantRequired", "ErrorTenantInvalid"] });
withTraits(ServerName, { read: serverName, fails: ["ErrorMCPServerNameRequired", "ErrorMCPServerNameInvalid"] });

/** The path of a server. */
export const server = {
  tenant: TenantKey.meta({ examples: ["demo"] }),
  name: ServerName.meta({ examples: ["weather"] }),
};

/** `true`, `false`, or the bare name for true. */
export const flag = z.boolean();

/** A whole number in decimal digits. */
export function whole(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max);
}

/** A text that must not be empty; `missing` says what it is for. */
export function required(schema: z.ZodString, missing: string): z.ZodString {
  return withTraits(schema, { missing });
}

/** Values separated by commas, or in repeated parameters. */
export function list<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return withTraits(z.array(item), { commas: true });
}

/** Known names separated by commas, or in repeated parameters. */
export function names<Name extends string>(known: readonly [Name, ...Name[]]): z.ZodArray<z.ZodType<Name>> {
  return list(z.enum(known) as unknown as z.ZodType<Name>);
}

/** A time as epoch milliseconds; a lower bound is rounded up, so that it excludes everything earlier. */
export const since = z
  .string()
  .meta({ format: "date-time" })
  .transform((text, context) => {
    const time = parseRfc3339(text, "up");
    if (time !== undefined) return time;
    const message = "must be an RFC 3339 time such as 2026-01-31T12:00:00Z (a + as %2B)";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

/** `limit` and `cursor` of a list. */
export function page(size: number) {
  return {
    limit: whole(1, 100).default(size).describe("Items on a page."),
    cursor: withTraits(z.string().describe("`nextCursor` of the page before."), {
      fails: ["ErrorCursorInvalid", "ErrorNotConfigured"],
    }).optional(),
  };
}

const minGeneration = withTraits(
  z.int().min(0).describe("The answer is at least as new as this generation of the tenant; 412 if there is none yet."),
  { read: wholeGeneration, fails: ["ErrorGenerationAhead"] },
);

function wholeGeneration(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) throw requestError("ErrorBadRequest", `${name} must be a whole number`);
  return Number(text);
}

function directoryState(text: string, name: string): DirectoryState {
  const state = parseState(text);
  if (state !== undefined) return state;
  throw requestError("ErrorBadRequest", `${name} must be the \`Rollcall-Directory\` of an answer, such as m1x2y3z4.17`);
}

/** How new everything public must be in an answer. */
export const minDirectory = withTraits(
  z
    .string()
    .describe("A `Rollcall-Directory` of another answer: this one is at least as new; 412 if there is none yet.")
    .transform((text) => directoryState(text, "Rollcall-Min-Directory-Generation")),
  { read: directoryState, fails: ["ErrorDirectoryAhead"] },
).optional();

export const ifNoneMatch = z.string().describe("An ETag of an earlier answer: 304 if nothing has changed.").optional();
export const cacheControl = z
  .string()
  .describe("`no-cache` reads the tenant's object instead of any cache.")
  .optional();

/** Headers of a read that says how fresh the answer must be. */
export const reading = {
  "Rollcall-Min-Generation": minGeneration.optional(),
  "Cache-Control": cacheControl,
  "If-None-Match": ifNoneMatch,
};

/** Headers of a write on a condition. */
export const writing = {
  "If-Match": withTraits(
    z.string().describe("An ETag or manifest digest that the server must still have; 412 if it has another."),
    { fails: ["ErrorPreconditionFailed"] },
  ).optional(),
  "If-None-Match": withTraits(z.string().describe("`*` creates a server and changes none; 412 if it exists."), {
    fails: ["ErrorPreconditionFailed"],
  }).optional(),
};

/** For `refused`: lists across tenants have no generation. */
export const minGenerationPerTenant =
  "does not work here: generations are per tenant. Send `Cache-Control: no-cache` for a fresh answer";

/** A header that a caller may expect to work here: an answer that ignored it would be wrong. */
export function refused(message: string): z.ZodOptional<z.ZodNever> {
  const read = (_: string, name: string): never => {
    throw requestError("ErrorBadRequest", `${name} ${message}`);
  };
  return withTraits(z.never(), { read, hidden: true }).optional();
}

/** How fresh an answer must be, from the headers of `reading`. */
export function freshnessFrom(headers: {
  "Rollcall-Min-Generation"?: number | undefined;
  "Cache-Control"?: string | undefined;
}): Freshness {
  const control = headers["Cache-Control"];
  return {
    strong: control !== undefined && /(^|[\s,])no-(cache|store)\b/i.test(control),
    minGeneration: headers["Rollcall-Min-Generation"] ?? 0,
  };
}
