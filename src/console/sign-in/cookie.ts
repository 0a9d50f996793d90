import { loopbackNames } from "../../kernel/names.ts";

/** Where a sign-in is kept in the browser, by the origin of the registry. */
export interface SignInCookie {
  name: string;
  secure: boolean;
}

/**
 * undefined where nobody can sign in: over plain http a cookie could be read on the way, unless it stays on this machine.
 * Cookies of 127.0.0.1 go to every port, so there the name has the port.
 */
export function cookieOf(origin: string): SignInCookie | undefined {
  const { protocol, hostname, port } = new URL(origin);
  if (protocol === "https:") return { name: "__Host-rollcall", secure: true };
  if (!loopbackNames.includes(hostname)) return undefined;
  return { name: `rollcall-${port || "80"}`, secure: false };
}

/** Beside it, for a minute at most: what an answered form says on the page it leads to. */
export function noticeCookieOf(cookie: SignInCookie): SignInCookie {
  return { ...cookie, name: `${cookie.name}-notice` };
}

export function setCookie({ name, secure }: SignInCookie, value: string, maxAgeSeconds: number): string {
  const parts = [`${name}=${value}`, "HttpOnly", "SameSite=Strict", "Path=/", `Max-Age=${maxAgeSeconds}`];
  return [...parts, ...(secure ? ["Secure"] : [])].join("; ");
}

export function clearCookie(cookie: SignInCookie): string {
  return setCookie(cookie, "", 0);
}

/** The path to go on with after signing in: of this registry, whatever the text says. */
export function safeNext(next: string | null | undefined): string {
  if (!next?.startsWith("/") || next.length > 4_096) return "/";
  const base = "https://registry.invalid";
  const url = URL.parse(next, base);
  // Browsers read `//host` and `/\host` as another origin; the parser does as well.
  if (url === null || url.origin !== base || /^\/sign-(?:in|out)\b/.test(url.pathname)) return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  return path.startsWith("//") ? "/" : path;
}
