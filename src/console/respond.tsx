import type { Child } from "hono/jsx";
import { Fragment } from "hono/jsx/jsx-runtime";
import type { RequestContext } from "../http/context.ts";
import { publicOrigin } from "../http/respond.ts";
import type { ConsoleDeps } from "./deps.ts";
import { Document } from "./layout/document.tsx";
import type { PageAnswer } from "./page.ts";
import { clearCookie, cookieOf } from "./sign-in/cookie.ts";
import type { Viewer } from "./sign-in/viewer.ts";
import type { FileNames } from "./static-files.ts";

/** Nothing is inline, so no nonce is needed, and nothing of another origin is ever loaded. */
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src", "form-action"].map((name) => `${name} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types rollcall",
].join("; ");

/** Headers of every page, whatever it shows. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  // Digests and names of private servers stay here.
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  // The same address shows other things to other viewers, and parts of a page to the script.
  Vary: "Accept, Cookie, Rollcall-Fragment",
};

export const fragmentHeader = "Rollcall-Fragment";
const encoder = new TextEncoder();

/** The page, or the one element of it that the script asked for. */
export async function sendPage(
  c: RequestContext,
  services: ConsoleDeps,
  asked: Viewer,
  page: PageAnswer,
): Promise<Response> {
  const { source, generation, status = 200, viewer = asked } = page;
  if (source !== undefined) c.set("source", source);
  const origin = publicOrigin(c, services.config);
  const wanted = c.req.header(fragmentHeader);
  const { fragments = {} } = page;
  const part = wanted !== undefined && Object.hasOwn(fragments, wanted) ? fragments[wanted]?.() : undefined;
  const now = services.now();
  const url = new URL(c.req.url);
  const frame = {
    viewer,
    files: await fileNames(services),
    here: `${url.pathname}${url.search}`,
    origin,
    now,
    milliseconds: now - c.get("startedAt"),
  };
  const html = part === undefined ? `<!doctype html>${<Document page={page} frame={frame} />}` : toText(part);
  const headers: Record<string, string> = {
    ...pageHeaders,
    // What only members see must not outlive the sign-in in the browser's own cache.
    "Cache-Control": viewer.signedIn || status !== 200 ? "private, no-store" : "private, no-cache",
    ...page.headers,
  };
  if (generation !== undefined) headers["Rollcall-Generation"] = String(generation);
  if (source !== undefined) headers["Rollcall-Source"] = source;
  const cookie = viewer.ended && cookieOf(origin);
  if (cookie && headers["Set-Cookie"] === undefined) headers["Set-Cookie"] = clearCookie(cookie);
  const body = encoder.encode(html);
  const { holds } = page;
  if (holds !== undefined && status === 200 && !viewer.signedIn && !viewer.ended && c.req.method === "GET")
    services.pages.put(storeKey(c), { body, headers, holds });
  return withId(c, new Response(body, { status, headers }));
}

/** Without the list of files a page has no style, which is better than no page. */
async function fileNames({ consoleFiles }: ConsoleDeps): Promise<FileNames> {
  try {
    return await consoleFiles.names();
  } catch (error) {
    console.error(JSON.stringify({ event: "console-files", error: String(error) }));
    return {};
  }
}

/** A page that was sent before to somebody who is not signed in. */
export function sendStored(c: RequestContext, services: ConsoleDeps): Response | undefined {
  const stored = services.pages.find(storeKey(c));
  if (stored === undefined) return undefined;
  c.set("source", "memory");
  return withId(c, new Response(stored.body, { headers: stored.headers }));
}

function storeKey(c: RequestContext): string {
  return `${c.req.header(fragmentHeader) ?? ""} ${c.req.url}`;
}

function withId(c: RequestContext, response: Response): Response {
  response.headers.set("X-Request-Id", c.get("requestId"));
  return response;
}

function toText(part: Child): string {
  return String(<Fragment>{part}</Fragment>);
}

/** 303: the browser gets the other page, also after a form. */
export function redirect(to: string, headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 303, headers: { "Cache-Control": "no-store", ...headers, Location: to } });
}
