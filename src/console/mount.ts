import { parseText, readBytes } from "../http/body.ts";
import { type App, type RequestContext, requestError } from "../http/context.ts";
import { compile, queryReader, readAll } from "../http/read-parameters.ts";
import { anonymousPrincipal } from "../http/request.ts";
import { publicOrigin } from "../http/respond.ts";
import { type Failure, statusOf } from "../kernel/failure.ts";
import { nearServers } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { failurePage } from "./failure-page.tsx";
import { signInHref } from "./layout/document.tsx";
import type { Page } from "./page.ts";
import { fragmentHeader, redirect, sendPage, sendStored } from "./respond.tsx";
import { keptForm } from "./sign-in/kept-form.tsx";
import { isSameOrigin } from "./sign-in/same-origin.ts";
import { type Viewer, viewerOf } from "./sign-in/viewer.ts";

/** Serves the pages: the only code that adds routes for people. */
export function mountPages(app: App, services: ConsoleDeps, pages: readonly Page[]): void {
  for (const page of pages) {
    const pattern = page.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.all(pattern, (c, next) => {
      if (page.onlyHtml && !wantsHtml(c)) return next();
      return serve(c, services, page);
    });
  }
}

/** A browser that opens an address says so; `*\/*` is what programs send. */
export function wantsHtml(c: RequestContext): boolean {
  return /\btext\/html\b/i.test(c.req.header("Accept") ?? "");
}

/** Forms are short; the longest is a task in plain words. */
const maxFormBytes = 64 * 1_024;

async function serve(c: RequestContext, services: ConsoleDeps, page: Page): Promise<Response> {
  c.set("operation", { id: `page ${page.id}`, errors: "api", scope: undefined });
  c.set("isPage", true);
  const { method } = c.req;
  const isRead = method === "GET" || method === "HEAD";
  const handler = isRead ? page.get : method === "POST" ? page.post : undefined;
  if (handler === undefined) {
    const allow = [...(page.get ? ["GET", "HEAD"] : []), ...(page.post ? ["POST"] : [])].join(", ");
    throw requestError("ErrorMethodNotAllowed", `${method} is not allowed here; allowed: ${allow}`, { allow });
  }
  const origin = publicOrigin(c, services.config);
  // Before anything is read: a form on another site must not act for whoever is signed in here.
  if (!isRead && !isSameOrigin(c.req.raw.headers, origin)) {
    const hint = "Open the page of this registry and send the form from there";
    throw requestError("ErrorFormRefused", undefined, { hint });
  }
  const viewer = await viewerOf(c, services);
  if (!viewer.signedIn && !viewer.ended && isRead) {
    const stored = sendStored(c, services);
    if (stored !== undefined) return stored;
  }
  const { pathname, search } = new URL(c.req.url);
  if (page.signedIn && !viewer.signedIn && isRead) return redirect(signInHref(`${pathname}${search}`));
  const segments = c.req.param();
  const path = readAll(compile(page.parameters?.path ?? {}), (name) => [segments[name] ?? ""]);
  const query = queryReader({ parameters: { query: page.parameters?.query ?? {}, unknown: "ignore" } })(
    new URLSearchParams(search),
  );
  const form = isRead ? undefined : new URLSearchParams(parseText(await readBytes(c, maxFormBytes, "bodyBytes")));
  const call = { c, viewer, path, query, origin, now: services.now(), form: form ?? new URLSearchParams() };
  const kept = keptForm(page, call, form);
  if (kept !== undefined) return sendPage(c, services, viewer, kept);
  const answer = await handler(services, call);
  return answer instanceof Response ? answer : sendPage(c, services, viewer, answer);
}

/** The page that tells a browser of a failure. */
export async function sendFailurePage(c: RequestContext, services: ConsoleDeps, failure: Failure): Promise<Response> {
  // Who asks may be what could not be found out.
  const viewer = await viewerOf(c, services).catch((): Viewer => ({ principal: anonymousPrincipal, signedIn: false }));
  const { tenant, name } = c.req.param() as { tenant?: string; name?: string };
  const isServer = tenant !== undefined && name !== undefined && [401, 403, 404].includes(statusOf(failure.code));
  const url = new URL(c.req.url);
  const page = failurePage(failure, {
    viewer,
    tenant,
    near: isServer ? await nearServers(services, tenant, name) : [],
    here: `${url.pathname}${url.search}`,
    requestId: c.get("requestId"),
  });
  // A part of a page that fails shows the failure in its place.
  const fragment = c.req.header(fragmentHeader);
  if (fragment !== undefined) page.fragments = { [fragment]: () => page.main };
  return sendPage(c, services, viewer, page);
}
