import { type Failure, statusOf } from "../kernel/failure.ts";
import { signInHref } from "./layout/document.tsx";
import type { PageAnswer } from "./page.ts";
import { text } from "./parts/text.tsx";
import type { Viewer } from "./sign-in/viewer.ts";

interface Where {
  viewer: Viewer;
  /** Path and query of the request. */
  here: string;
  requestId: string;
  /** Public servers with names like the one that was asked for. */
  near: readonly { tenant: string; name: string }[];
  /** The tenant that the path names. */
  tenant?: string;
}

const titles: Partial<Record<number, string>> = {
  400: "This address does not work",
  401: "Nothing public is here",
  403: "Not with this sign-in",
  404: "There is nothing here",
  405: "This page takes no such request",
  409: "Something else is in the way",
  410: "This page of the list is gone",
  413: "That was too long",
  422: "Something in the form does not fit",
  429: "Too many requests",
  500: "The registry failed",
  502: "The server behind this did not answer",
  503: "The registry is not available right now",
};

/** What went wrong, where, and what to do next. Never says whether something private exists. */
export function failurePage(failure: Failure, { viewer, here, requestId, near, tenant }: Where): PageAnswer {
  const { code, details } = failure;
  const status = statusOf(code);
  const shown = here.length > 200 ? `${here.slice(0, 200)}…` : here;
  const retry = Number(details?.retryAfterSeconds ?? 1);
  const waits = status === 503 || status === 429;
  return {
    title: titles[status] ?? "Error",
    status,
    headers: headersFor(failure, waits ? retry : undefined),
    main: (
      <article class="prose failure" data-retry={status === 503 ? String(retry) : undefined}>
        <p class="mute mono">
          {status} {code}
        </p>
        <h1>{titles[status] ?? "That did not work"}</h1>
        <p>
          <code class="wrap">{text(shown)}</code>
        </p>
        <p>{reasonFor(failure, viewer, tenant)}</p>
        {near.length > 0 && (
          <>
            <p>Did you mean</p>
            <ul class="plain-list">
              {near.map((server) => (
                <li>
                  <a href={`/servers/${server.tenant}/${server.name}`}>
                    <code>
                      {server.tenant}/{server.name}
                    </code>
                  </a>
                </li>
              ))}
            </ul>
          </>
        )}
        <h2>What to do next</h2>
        <ul>
          {status === 401 && (
            <li>
              <a href={signInHref(here)}>Sign in</a> with a token of the tenant, if it is yours.
            </li>
          )}
          {waits && <li>Wait {retry} s, then load the page again.</li>}
          {(code === "ErrorCursorInvalid" || code === "ErrorCursorExpired") && (
            <li>
              <a href={withoutCursor(here)}>Start at the first page</a> of the same list.
            </li>
          )}
          {status >= 500 && !waits && (
            <li>Load the page again. If it stays, tell the operator the request id below.</li>
          )}
          <li>
            <a href="/servers">See who is there</a>, or <a href="/search">say what you need</a>.
          </li>
        </ul>
        <p class="mute">
          Request <code>{requestId}</code>
        </p>
      </article>
    ),
  };
}

function headersFor({ details }: Failure, retryAfter: number | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined) headers["Retry-After"] = String(retryAfter);
  if (typeof details?.allow === "string") headers.Allow = details.allow;
  return headers;
}

function reasonFor({ code, message, details }: Failure, { principal, signedIn }: Viewer, tenant: string | undefined) {
  if (code === "ErrorUnauthorized")
    return "No public server or capability has this name. What belongs to a tenant is shown to its members.";
  if (code === "ErrorTenantPermissionError" && signedIn) {
    const held = principal.tenants.join(", ") || "no tenant";
    return (
      <>
        Nothing public has this name{tenant !== undefined && <> in {text(tenant)}</>}, and your sign-in does not act for
        this tenant: it acts for {held}.
      </>
    );
  }
  if (code === "ErrorNotFound") return "No page has this address.";
  const reason = details?.message;
  return (
    <>
      {text(message)}
      {reason === undefined ? "" : <>: {text(String(reason))}</>}
    </>
  );
}

function withoutCursor(here: string): string {
  const url = new URL(here, "https://registry.invalid");
  url.searchParams.delete("cursor");
  return `${url.pathname}${url.search}`;
}
