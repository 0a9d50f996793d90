import type { z } from "zod";
import type { Bounds } from "../kernel/bounds.ts";
import type { FailureCode } from "../kernel/failure.ts";
import type { StrictJson } from "../kernel/strict-json.ts";
import type { Access } from "./access.ts";
import type { ErrorShape, RequestContext } from "./context.ts";
import type { HttpDeps } from "./deps.ts";
import type { ResponseMeta } from "./respond.ts";
import type { ResponseAccess } from "./response-store.ts";

/**
 * One operation of the HTTP API: everything that routing, checks, metrics, tests and the OpenAPI document need to know
 * of it. `mount` serves it; nothing else adds a route.
 */
export interface OperationDefinition<
  Deps extends HttpDeps,
  Caller extends object,
  Path extends Shape,
  Query extends Shape,
  Headers extends Shape,
  Body extends BodyDeclaration | undefined,
  Answers extends AnswerDeclarations,
> {
  /** Name in OpenAPI, metrics and logs; also the method's name in generated clients. */
  id: string;
  method: Method;
  /** With parameters in braces: `/api/changes/{tenant}`. */
  path: string;
  /** Other paths that are served alike and not described: an older prefix. */
  also?: readonly string[];
  tag: Tag;
  summary: string;
  description?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a proof adds is part of `Caller`
  access: Access<Caller, Deps, any>;
  /** Shape of its error responses; `api` if absent. */
  errors?: ErrorShape;
  parameters?: {
    path?: Path;
    query?: Query;
    headers?: Headers;
    /** Accepted spellings of query parameters that are not described: `{task: ["q"]}`. */
    aliases?: Readonly<Record<string, readonly string[]>>;
    /** Unknown query parameters are refused, unless the API that is served says otherwise. */
    unknown?: "ignore";
  };
  body?: Body;
  answers: Answers;
  /** Failures that do not follow from access, parameters and body. */
  fails?: readonly FailureCode[];
  /**
   * Costly for its isolate, always or if its body is large or has many items: few are served at once, and one of each
   * caller. See `Admission`.
   */
  heavy?: "always" | "by-size";
  /** May put answers into the response cache with `answer(…, {cache})`. */
  cached?: true;
  /** Set to false for a stream: HEAD would open one that nobody reads. */
  head?: false;
  examples?: Readonly<Record<string, Example>>;
  handle(
    services: Deps,
    call: Caller & Call<Path, Query, Headers, Body> & { answer: Answer<Answers> },
  ): Promise<Answered> | Answered;
}

/** An operation in a list with others; its handler takes these services. */
// biome-ignore lint/suspicious/noExplicitAny: a list of any operations
export interface Operation<Deps extends HttpDeps = any>
  extends Omit<
    OperationDefinition<Deps, object, Shape, Shape, Shape, BodyDeclaration | undefined, AnswerDeclarations>,
    "handle"
  > {
  // biome-ignore lint/suspicious/noExplicitAny: `operation` has checked the handler against the declaration
  handle: (services: Deps, call: any) => Promise<Answered> | Answered;
}

/** Checks that the handler fits the declaration. */
export function operation<
  Deps extends HttpDeps,
  Caller extends object,
  Answers extends AnswerDeclarations,
  // biome-ignore lint/complexity/noBannedTypes: no parameters
  Path extends Shape = {},
  // biome-ignore lint/complexity/noBannedTypes: no parameters
  Query extends Shape = {},
  // biome-ignore lint/complexity/noBannedTypes: no parameters
  Headers extends Shape = {},
  const Body extends BodyDeclaration | undefined = undefined,
>(definition: OperationDefinition<Deps, Caller, Path, Query, Headers, Body, Answers>): Operation<Deps> {
  return definition as unknown as Operation<Deps>;
}

export type Method = "get" | "put" | "post" | "patch" | "delete";

/** Sections of the API in OpenAPI, and modules of generated clients. */
export type Tag =
  | "Find"
  | "Publish"
  | "History"
  | "Hooks"
  | "Subscriptions"
  | "Changes"
  | "Sessions"
  | "MCP"
  | "Registry API"
  | "Service";

export type Shape = Readonly<Record<string, z.ZodType>>;
type Values<Of extends Shape> = { [Name in keyof Of]: z.output<Of[Name]> };

/** The parts of a request that a handler gets, validated. */
interface Call<
  Path extends Shape,
  Query extends Shape,
  Headers extends Shape,
  Body extends BodyDeclaration | undefined,
> {
  path: Values<Path>;
  query: Values<Query>;
  headers: Values<Headers>;
  body: BodyValue<Body>;
  /** For what the members above do not have: the raw request, its signal, work that goes on after the answer. */
  c: RequestContext;
}

export interface BodyDeclaration {
  /** Has a name, so that clients have one type for it: see `named`. */
  schema: z.ZodType;
  /**
   * `value` (if absent): validated against the schema. `document`: parsed within bounds and handed over with its issues,
   * for a handler that validates item by item. `text` and `bytes`: as it came. `unread`: the handler reads it.
   */
  read?: "value" | "document" | "text" | "bytes" | "unread";
  limit: keyof Bounds | number;
  /** YAML is slower to parse and has a lower limit of its own. */
  yamlLimit?: number;
  /** Media types; JSON and YAML if absent. */
  media?: readonly string[];
  /** Failure of a document that does not fit the schema; `ErrorMCPServerValidation` if absent. */
  invalid?: FailureCode;
  /** Value of an empty body; without one, a body is required. */
  whenEmpty?: unknown;
  /** Top-level members that answers add: a document that was read may be sent back with them. */
  ignored?: readonly string[];
  /** Throws failures that come before those of the schema: names have codes of their own. */
  check?: (value: unknown) => void;
}

type BodyValue<Body extends BodyDeclaration | undefined> = Body extends BodyDeclaration
  ? Body extends { read: "document" }
    ? StrictJson
    : Body extends { read: "text" }
      ? string
      : Body extends { read: "bytes" }
        ? Uint8Array
        : Body extends { read: "unread" }
          ? undefined
          : z.output<Body["schema"]>
  : undefined;

export interface AnswerDeclaration {
  description: string;
  /** Schema of `data` in `{success: true, message?, data}`. */
  data?: z.ZodType;
  /** Schema of a JSON body without that envelope. */
  json?: z.ZodType;
  /** Media type of `json` where it is not `application/json`. */
  type?: string;
  /** Media types of bodies that are not JSON, or not only. */
  media?: readonly string[];
  /** Carries an ETag; a GET that sends `If-None-Match` may be answered with 304. */
  etag?: true;
  /** Carries Rollcall-Generation. */
  generation?: true;
  /** Carries Rollcall-Directory; `sometimes` if it may be absent: a write that the directory did not confirm in time. */
  directory?: true | "sometimes";
  /** Further headers, with what they say. */
  headers?: Readonly<Record<string, string>>;
}
export type AnswerDeclarations = Readonly<Record<number, AnswerDeclaration>>;

type DataOf<Declared> = Declared extends { data: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : Declared extends { json: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : undefined;

export interface AnswerMeta extends Omit<ResponseMeta, "status"> {
  /** Media type, where it is not `application/json`. */
  type?: string;
  /**
   * Caches the response, to be sent again while `holds` returns true to callers who would get the same. Only in
   * operations that are `cached`.
   */
  cache?: {
    holds: () => boolean;
    variesBy: ResponseAccess["variesBy"];
    body?: () => Uint8Array | undefined;
    /** For an answer whose format `Accept` decides: false for a header that gets another. */
    accepts?: (accept: string | undefined) => boolean;
  };
}

declare const answered: unique symbol;
/** A response made by `answer`: a handler cannot return any other. */
export type Answered = Response & { [answered]: true };

/** Makes the responses that an operation declares. */
export interface Answer<Answers extends AnswerDeclarations = AnswerDeclarations> {
  /** Data of the declared schema. 304 instead if the request has the tag of `meta` already. */
  <Status extends keyof Answers & number>(status: Status, data: DataOf<Answers[Status]>, meta?: AnswerMeta): Answered;
  /** A body that is ready to be sent: rendered JSON, another format, a stream. 304 as above. */
  raw(status: keyof Answers & number, body: BodyInit | null, meta?: AnswerMeta): Answered;
  /** The 304 if the request has this tag already. Asked before work that only a full answer needs. */
  unchanged(meta: AnswerMeta & { etag: string }): Answered | undefined;
  /** A response that other code made, as it is. */
  response(status: keyof Answers & number, response: Response): Answered;
}

/** A request that works as it is, with the demo's data. The tests run every example and check its answer. */
export interface Example {
  summary?: string;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  headers?: Readonly<Record<string, string>>;
  /** JSON, or text of the media type in `headers`. */
  body?: unknown;
  /** 200 if absent. */
  status?: number;
  /** The example of another operation to run first, and the parameters of this one that its answer gives. */
  after?: { id: string; take: (answer: { body: unknown; headers: Headers }) => Taken | Promise<Taken> };
}

type Taken = Readonly<Record<string, string>>;
