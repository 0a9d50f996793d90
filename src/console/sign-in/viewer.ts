import { getCookie } from "hono/cookie";
import { readHeader } from "../../auth/jwt-header.ts";
import { checkScope, type Principal } from "../../auth/principal.ts";
import { type RequestContext, throwIf, unwrap } from "../../http/context.ts";
import { anonymousPrincipal, anonymousSubject, consumeRateLimit } from "../../http/request.ts";
import { publicOrigin } from "../../http/respond.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { tenantKey } from "../../kernel/names.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { ConsoleDeps } from "../deps.ts";
import { cookieOf, setCookie } from "./cookie.ts";
import type { SignIn } from "./seal.ts";

/** Who looks at a page. */
export interface Viewer {
  /** Anonymous unless signed in. */
  principal: Principal;
  signedIn: boolean;
  /** The request came with a cookie that is no longer valid: the browser should forget it. */
  ended?: true;
}

const maxSeconds = 8 * 3_600;
/** Browsers drop cookies of more than 4,096 bytes, name and attributes included. */
const maxCookie = 3_800;

const known = new WeakMap<RequestContext, Viewer>();

/** The viewer that was found for this request, if one was: a failure is told to the same one. */
export function knownViewer(c: RequestContext): Viewer | undefined {
  return known.get(c);
}

/** For what is the same to everybody. */
export function visitorOf(c: RequestContext): Viewer {
  const viewer: Viewer = { principal: anonymousPrincipal, signedIn: false };
  known.set(c, viewer);
  return viewer;
}

/**
 * The viewer of a page, by cookie alone. Cookies count here and nowhere else: the API looks at bearer tokens only, so that
 * pages of other origins can call it without acting for somebody.
 */
export async function viewerOf(c: RequestContext, services: ConsoleDeps): Promise<Viewer> {
  const viewer = (await signedInViewer(c, services)) ?? visitor(c, services);
  const { subject } = viewer.principal;
  c.set("subject", subject);
  known.set(c, viewer);
  consumeRateLimit(services, services.readLimiter, subject);
  return viewer;
}

function visitor(c: RequestContext, services: ConsoleDeps): Viewer {
  const ended = cookieIn(c, services) === undefined ? undefined : true;
  const subject = anonymousSubject(c.req.raw, services);
  return { principal: { ...anonymousPrincipal, subject }, signedIn: false, ended };
}

function cookieIn(c: RequestContext, { config }: ConsoleDeps): string | undefined {
  const cookie = cookieOf(publicOrigin(c, config));
  return cookie && getCookie(c, cookie.name);
}

async function signedInViewer(c: RequestContext, services: ConsoleDeps): Promise<Viewer | undefined> {
  const text = cookieIn(c, services);
  if (text === undefined || services.signIns === undefined) return undefined;
  const signIn = await services.signIns.open<SignIn>("sign-in", text);
  if (signIn === undefined || signIn.expiresAt * 1_000 <= services.now()) return undefined;
  // A key that its issuer has taken back ends the sign-ins made with it, as it ends the tokens.
  if (!unwrap(await services.authenticator.trusts(signIn.key))) return undefined;
  const { subject, tenants, scopes, admin, expiresAt } = signIn;
  return { principal: { subject, tenants: tenants.map(tenantKey), scopes, admin, expiresAt }, signedIn: true };
}

/** Exchanges a token for a cookie, and forgets the token. */
export async function signIn(
  c: RequestContext,
  services: ConsoleDeps,
  token: string,
): Promise<Result<{ viewer: Viewer; setCookie: string }, Failure>> {
  const cookie = cookieOf(publicOrigin(c, services.config));
  if (services.signIns === undefined || cookie === undefined)
    return err(failure("ErrorNotConfigured", "Signing in needs https, or this machine's own address"));
  const verified = await services.authenticator.authenticate(`Bearer ${token}`);
  if (!verified.ok) return verified;
  const principal = verified.value;
  throwIf(checkScope(principal, "registry:read"));
  const key = readHeader(token);
  if (!key.ok) return err(failure("ErrorUnauthorized"));
  const now = Math.floor(services.now() / 1_000);
  const expiresAt = Math.min(principal.expiresAt, now + maxSeconds);
  const { subject, tenants, scopes, admin } = principal;
  const sealed = await services.signIns.seal("sign-in", { subject, tenants, scopes, admin, expiresAt, key: key.value });
  if (sealed.length > maxCookie) {
    const message = `The token names ${tenants.length} tenants, too many for a cookie`;
    return err(failure("ErrorBadRequest", message, { hint: "Sign in with a token that names fewer tenants" }));
  }
  const viewer = { principal: { ...principal, expiresAt }, signedIn: true };
  return ok({ viewer, setCookie: setCookie(cookie, sealed, Math.floor(expiresAt - now)) });
}
