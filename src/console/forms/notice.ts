import { getCookie } from "hono/cookie";
import type { RequestContext } from "../../http/context.ts";
import { publicOrigin } from "../../http/respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import type { Notice } from "../page.ts";
import { redirect } from "../respond.tsx";
import { clearCookie, cookieOf, noticeCookieOf, setCookie } from "../sign-in/cookie.ts";
import type { Viewer } from "../sign-in/viewer.ts";

/** What a page says once is sealed in a cookie, which the page takes back as it is shown. */
interface Sealed extends Notice {
  /** Where it is shown, and to whom. */
  path: string;
  subject: string;
  expiresAt: number;
}

const seconds = 60;
/** Browsers drop longer cookies. */
const longestText = 2_000;

interface Place {
  c: RequestContext;
  services: ConsoleDeps;
  viewer: Viewer;
}

/** Leads to a page that says this once. */
export async function redirectWith({ c, services, viewer }: Place, path: string, notice: Notice): Promise<Response> {
  const cookie = cookieOf(publicOrigin(c, services.config));
  if (cookie === undefined || services.signIns === undefined) return redirect(path);
  const { subject } = viewer.principal;
  const text = notice.text.slice(0, longestText);
  const expiresAt = services.now() + seconds * 1_000;
  const warnings = notice.warnings?.map((warning) => warning.slice(0, 300)).slice(0, 3);
  const value: Sealed = { ...notice, text, warnings, path: pathOf(path), subject, expiresAt };
  const sealed = await services.signIns.seal("notice", value);
  return redirect(path, { "Set-Cookie": setCookie(noticeCookieOf(cookie), sealed, seconds) });
}

/** What this page has to say to this viewer, and the header that takes it back. */
export async function takeNotice({ c, services, viewer }: Place): Promise<{ notice?: Notice; cleared?: string }> {
  const cookie = cookieOf(publicOrigin(c, services.config));
  const kept = cookie && noticeCookieOf(cookie);
  const text = kept && getCookie(c, kept.name);
  if (kept === undefined || text === undefined || services.signIns === undefined) return {};
  const found = await services.signIns.open<Sealed>("notice", text);
  const isHere = found?.path === c.req.path && viewer.signedIn && found.subject === viewer.principal.subject;
  if (!isHere || found.expiresAt <= services.now()) return {};
  const { text: said, effectiveBy, secret, warnings } = found;
  return { notice: { text: said, effectiveBy, secret, warnings }, cleared: clearCookie(kept) };
}

function pathOf(path: string): string {
  return path.split(/[?#]/, 1)[0] ?? "";
}
