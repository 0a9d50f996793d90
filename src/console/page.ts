import type { Child } from "hono/jsx";
import type { z } from "zod";
import type { RequestContext } from "../http/context.ts";
import type { Shape } from "../http/operation.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import type { Api, Dispatch } from "./api.ts";
import type { ConsoleDeps } from "./deps.ts";
import type { Viewer } from "./sign-in/viewer.ts";

/**
 * One page of the console. The table in `pages.ts` is the only way to add one; `mount.ts` serves it. Pages are apart from
 * the operations: they are for people, read through the rooms' own functions, and are in no API description.
 */
export interface PageDefinition<Path extends Shape, Query extends Shape> {
  /** Name in metrics and logs. */
  id: string;
  /** With parameters in braces, as in operations. */
  path: string;
  /** Parameters that are not listed are ignored: links from elsewhere add their own. */
  parameters?: { path?: Path; query?: Query };
  /** Shown only to browsers: other callers get what the API has at this path. */
  onlyHtml?: true;
  /** The same for everybody, and not limited: who asks is not looked at. */
  anyone?: true;
  /** Only a viewer who is signed in; others are asked to sign in first. */
  signedIn?: true;
  get?(services: ConsoleDeps, call: Call<Path, Query>): Promise<PageAnswer | Response> | PageAnswer | Response;
  /** Answers a form. Runs only for requests of our own pages. */
  post?(services: ConsoleDeps, call: Call<Path, Query> & { form: URLSearchParams }): Promise<PageAnswer | Response>;
}

type Values<Of extends Shape> = { [Name in keyof Of]: z.output<Of[Name]> };

export interface Call<Path extends Shape, Query extends Shape> {
  c: RequestContext;
  viewer: Viewer;
  path: Values<Path>;
  query: Values<Query>;
  /** Where the world reaches this registry. */
  origin: string;
  now: number;
  /** An operation of the API, for the viewer. */
  api: Api;
  dispatch: Dispatch;
  /** What a form that has just been answered says on the page it leads to. */
  notice: Notice | undefined;
}

/**
 * A form that was answered leads to a page by GET, so that a reload sends nothing again. What the page has to say once is
 * sealed in a cookie that the page takes back as it is shown: a secret in it is gone after a reload.
 */
export interface Notice {
  /** What was done, as a sentence. */
  text: string;
  /** When what was taken away is gone everywhere. */
  effectiveBy?: string | undefined;
  /** Shown this once. */
  secret?: string | undefined;
  warnings?: readonly string[] | undefined;
}

/** What a page consists of. `respond.tsx` puts the frame around it. */
export interface PageAnswer {
  title: string;
  /** The content of `<main>`, from the heading on. */
  main: Child;
  status?: number;
  nav?: "servers" | "search" | "negotiate" | "changes" | "manage" | "docs";
  /** Elements that the script asks for by name, to swap in without a reload. */
  fragments?: Readonly<Record<string, () => Child>>;
  /** The same data for programs. */
  same?: { json?: string; cli?: string };
  generation?: number;
  source?: AnswerSource;
  headers?: Record<string, string>;
  /** The viewer from this answer on, where it signs somebody in. */
  viewer?: Viewer;
  /** The page shows nothing that depends on the viewer, and may be sent again while this returns true. */
  holds?: () => boolean;
}

/** A page in a list with others. */
// biome-ignore lint/suspicious/noExplicitAny: `page` has checked the handlers against the declaration
export type Page = PageDefinition<any, any>;

/** Checks that the handlers fit the declaration. */
export function page<
  // biome-ignore lint/complexity/noBannedTypes: no parameters
  Path extends Shape = {},
  // biome-ignore lint/complexity/noBannedTypes: no parameters
  Query extends Shape = {},
>(definition: PageDefinition<Path, Query>): Page {
  return definition;
}
