import { parseText, readBytes } from "../http/body.ts";
import { type App, type RequestContext, RequestFailed, requestError } from "../http/context.ts";
import { compile, queryReader, readAll } from "../http/read-parameters.ts";
import { publicOrigin } from "../http/respond.ts";
import { type Failure, statusOf } from "../kernel/failure.ts";
import { apiOf, dispatchFor } from "./api.ts";
import { nearServers } from "./catalogue.ts";
import type { ConsoleDeps } from "./deps.ts";
import { failurePage } from "./failure-page.tsx";
import { takeNotice } from "./forms/notice.ts";
import { signInHref } from "./layout/document.tsx";
import type { Page, PageAnswer } from "./page.ts";
import { fragmentHeader, redirect, sendPage, sendStored } from "./respond.tsx";
import { keptForm, lostForm } from "./sign-in/kept-form.tsx";
import { isSameOrigin } from "./sign-in/same-origin.ts";
import { knownViewer, type Viewer, viewerOf, visitorOf } from "./sign-in/viewer.ts";

/** Serves the pages: the only code that adds routes for people. */
export function mountPages(app: App, services: ConsoleDeps, pages: readonly Page[]): void {
  for (const page of pages) {
    const pattern = page.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.all(pattern, (c, next) => {
      if (page.onlyHtml && !wantsHtml(c)) return next();
      return serve(app, c, services, page);
    });
  }
}

/** A browser that opens an address says so; `*\/*` is what programs send. */
export function wantsHtml(c: RequestContext): boolean {
  return /\btext\/html\b/i.test(c.req.header("Accept") ?? "");
}

/** Forms are short; the longest is a task in plain words. */
const maxFormBytes = 64 * 1_024;

async function serve(app: App, c: RequestContext, services: ConsoleDeps, page: Page): Promise<Response> {
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
  const viewer = page.anyone ? visitorOf(c) : await viewerOf(c, services);
  if (!page.anyone && !viewer.signedIn && !viewer.ended && isRead) {
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
  const kept = keptForm(page, { c, viewer }, form);
  if (kept !== undefined) return sendPage(c, services, viewer, kept);
  const dispatch = dispatchFor(app, c, viewer.principal);
  const { notice, cleared } = isRead && viewer.signedIn ? await takeNotice({ c, services, viewer }) : {};
  const call = {
    ...{ c, viewer, path, query, origin, now: services.now(), form: form ?? new URLSearchParams() },
    ...{ api: apiOf(dispatch, c), dispatch, notice },
  };
  const answer = await answered(() => handler(services, call), { page, c, viewer, form });
  if (answer instanceof Response) return answer;
  const headers = cleared === undefined ? answer.headers : { ...answer.headers, "Set-Cookie": cleared };
  return sendPage(c, services, viewer, { ...answer, headers });
}

interface Sent {
  page: Page;
  c: RequestContext;
  viewer: Viewer;
  form: URLSearchParams | undefined;
}

/** A form of somebody who has lost the tenant or the scope meanwhile is kept, with the reason. */
async function answered(
  handle: () => Promise<PageAnswer | Response> | PageAnswer | Response,
  { page, c, viewer, form }: Sent,
): Promise<PageAnswer | Response> {
  try {
    return await handle();
  } catch (error) {
    if (form === undefined || !viewer.signedIn || !(error instanceof RequestFailed)) throw error;
    const lost = lostForm(page, { c, viewer }, form, error.failure);
    if (lost === undefined) throw error;
    return lost;
  }
}

/** The page that tells a browser of a failure. */
export async function sendFailurePage(c: RequestContext, services: ConsoleDeps, failure: Failure): Promise<Response> {
  // Who asks may be what could not be found out.
  const viewer = knownViewer(c) ?? (await viewerOf(c, services).catch(() => visitorOf(c)));
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
