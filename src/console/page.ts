import type { Child } from "hono/jsx";
import type { z } from "zod";
import type { RequestContext } from "../http/context.ts";
import type { Shape } from "../http/operation.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
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
}

/** What a page consists of. `respond.tsx` puts the frame around it. */
export interface PageAnswer {
  title: string;
  /** The content of `<main>`, from the heading on. */
  main: Child;
  status?: number;
  nav?: "servers" | "search" | "negotiate" | "changes" | "docs";
  /** Elements that the script asks for by name, to swap in without a reload. */
  fragments?: Readonly<Record<string, () => Child>>;
  /** The same data for programs. */
  same?: { json?: string; cli?: string };
  generation?: number;
  source?: AnswerSource;
  headers?: Record<string, string>;
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
