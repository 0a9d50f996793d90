import type { Child } from "hono/jsx";
import { version } from "../../kernel/version.ts";
import type { PageAnswer } from "../page.ts";
import { until } from "../parts/figures.tsx";
import type { Viewer } from "../sign-in/viewer.ts";
import { type FileNames, staticPath } from "../static-files.ts";
import { Keys } from "./keys.tsx";

interface Frame {
  viewer: Viewer;
  files: FileNames;
  /** Path and query of the page. */
  here: string;
  origin: string;
  now: number;
  milliseconds: number;
}

/** A whole page: the frame that all have in common, around the content of one. */
export function Document({ page, frame }: { page: PageAnswer; frame: Frame }) {
  const { files } = frame;
  const file = (name: string) => `${staticPath}${files[name] ?? name}`;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{page.title} · Rollcall</title>
        <link rel="icon" href={file("icon.svg")} type="image/svg+xml" />
        <link rel="preload" href={file("instrument-sans.woff2")} as="font" type="font/woff2" crossorigin="anonymous" />
        <link rel="stylesheet" href={file("console.css")} />
        <script src={file("theme.js")} />
        <script src={file("console.js")} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Header nav={page.nav} frame={frame} />
        <main id="main" tabindex={-1}>
          {frame.viewer.ended && (
            <p class="note" role="status">
              Your sign-in has ended: this is what everybody sees. <a href={signInHref(frame.here)}>Sign in again</a>
            </p>
          )}
          {page.main}
        </main>
        <Footer page={page} frame={frame} />
        <Keys />
        <p class="live" aria-live="polite" />
      </body>
    </html>
  );
}

export function signInHref(here: string): string {
  return here === "/" || here.startsWith("/sign-") ? "/sign-in" : `/sign-in?next=${encodeURIComponent(here)}`;
}

const links = [
  ["servers", "/servers", "Servers"],
  ["search", "/search", "Search"],
  ["negotiate", "/negotiate", "Negotiate"],
  ["docs", "/docs", "Docs"],
] as const;
/** What only members of a tenant have. */
const memberLinks = [
  ["changes", "/changes", "Changes"],
  ["manage", "/manage", "Manage"],
] as const;

function Header({ nav, frame: { viewer, here, now } }: { nav: PageAnswer["nav"]; frame: Frame }) {
  return (
    <header class="top">
      <a class="brand" href="/" data-go="h">
        Rollcall
      </a>
      <nav aria-label="Main">
        {[...links, ...(viewer.signedIn ? memberLinks : [])].map(([name, href, label]) => (
          <a href={href} aria-current={nav === name ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="who">
        <button type="button" class="plain js-only" data-theme-toggle aria-label="Switch between light and dark">
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" />
            <path d="M8 1.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" />
          </svg>
        </button>
        {viewer.signedIn ? <SignedIn viewer={viewer} now={now} /> : <a href={signInHref(here)}>Sign in</a>}
      </div>
    </header>
  );
}

function SignedIn({ viewer: { principal }, now }: { viewer: Viewer; now: number }) {
  const { subject, tenants, admin, expiresAt } = principal;
  const first = admin ? "admin" : (tenants[0] ?? "no tenant");
  const more = !admin && tenants.length > 1 ? ` +${tenants.length - 1}` : "";
  return (
    <>
      <a class="me" href="/me">
        <span class="sub">{subject}</span>
        <span class="mute">
          @{first}
          {more}
        </span>
      </a>
      <span class="mute small ends">ends in {until(expiresAt * 1_000, now)}</span>
      <form method="post" action="/sign-out">
        <button type="submit" class="plain">
          Sign out
        </button>
      </form>
    </>
  );
}

function Footer({ page: { same, generation, source }, frame }: { page: PageAnswer; frame: Frame }) {
  const { origin, milliseconds, viewer } = frame;
  const facts: Child[] = [
    generation !== undefined && <span>generation {generation}</span>,
    source !== undefined && <span>from {source}</span>,
    <span>{milliseconds} ms</span>,
    <span>Rollcall {version}</span>,
  ];
  const token = viewer.signedIn ? ' -H "Authorization: Bearer $ROLLCALL_TOKEN"' : "";
  return (
    <footer class="foot">
      {same?.json !== undefined && (
        <details>
          <summary>This page for programs</summary>
          <dl class="rows">
            <dt>JSON</dt>
            <dd>
              <a href={same.json}>{same.json}</a>
            </dd>
            <dt>curl</dt>
            <dd>
              <code>
                curl -s '{origin}
                {same.json.replaceAll("'", "%27")}'{token}
              </code>
            </dd>
            {same.cli !== undefined && (
              <>
                <dt>rollcall</dt>
                <dd>
                  <code>rollcall {same.cli}</code>
                </dd>
              </>
            )}
          </dl>
        </details>
      )}
      <p class="facts">{facts}</p>
      <p class="facts">
        <a href="/llms.txt">For models</a>
        <a href="/openapi.json">OpenAPI</a>
        <a href="/status">Status</a>
        <span class="js-only">
          <kbd>?</kbd> shows the keys
        </span>
      </p>
    </footer>
  );
}
