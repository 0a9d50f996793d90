import { z } from "zod";
import { RequestFailed } from "../../http/context.ts";
import { publicOrigin } from "../../http/respond.ts";
import { type Failure, statusOf } from "../../kernel/failure.ts";
import type { ConsoleDeps } from "../deps.ts";
import { type PageAnswer, page } from "../page.ts";
import { redirect } from "../respond.tsx";
import { clearCookie, cookieOf, safeNext } from "../sign-in/cookie.ts";
import { resendPage, StillKept } from "../sign-in/kept-form.tsx";
import { SignInForm } from "../sign-in/sign-in-form.tsx";
import { signIn as exchange } from "../sign-in/viewer.ts";

interface Problem {
  why: Failure;
  /** What was sent: a form that waits for the sign-in goes along. */
  form: URLSearchParams;
}

function signInPage({ config }: ConsoleDeps, origin: string, next: string, problem?: Problem): PageAnswer {
  const possible = cookieOf(origin) !== undefined;
  const own = config.tokenKeys?.kind === "secret";
  return {
    title: "Sign in",
    status: problem === undefined ? 200 : statusOf(problem.why.code),
    main: (
      <article class="prose">
        <h1>Sign in</h1>
        <p>Everything public is open to everybody. Signing in adds the servers of your own tenants.</p>
        {possible ? (
          <SignInForm next={next} error={problem && <Reason of={problem.why} />}>
            {problem && <StillKept form={problem.form} />}
          </SignInForm>
        ) : (
          <p class="error">
            Signing in needs https, or the address of this machine itself: over plain http the cookie could be read on
            the way. Open the registry at its https address.
          </p>
        )}
        <h2>Where a token comes from</h2>
        {own ? (
          <p>
            From the terminal that runs the registry: <code>npm start</code> prints a link that brings the token along,
            and <code>npm run token -- --tenant NAME</code> makes others.
          </p>
        ) : (
          <p>From the identity provider of this registry: {config.issuer}.</p>
        )}
      </article>
    ),
  };
}

function Reason({ of: { message, details } }: { of: Failure }) {
  const why = details?.message ?? (message === "Unauthorized access" ? "The token is not accepted" : message);
  return (
    <>
      {why}. {details?.hint}
    </>
  );
}

/** A token as people paste it: with the header's first words, with quotes, with line ends. */
function tokenIn(pasted: string): string {
  return pasted
    .replace(/^\s*(?:authorization:\s*)?bearer\s+/i, "")
    .replaceAll(/["'\s]/g, "")
    .slice(0, 10_000);
}

const signIn = page({
  id: "sign-in",
  path: "/sign-in",
  parameters: { query: { next: z.string().optional() } },
  get: (services, { origin, query }) => signInPage(services, origin, safeNext(query.next)),

  async post(services, { c, origin, form }) {
    const next = safeNext(form.get("next"));
    const token = tokenIn(form.get("token") ?? "");
    try {
      const exchanged = await exchange(c, services, token);
      if (!exchanged.ok) return signInPage(services, origin, next, { why: exchanged.error, form });
      const { viewer, setCookie } = exchanged.value;
      const headers = { "Set-Cookie": setCookie };
      const resend = resendPage(form, viewer);
      // The browser has the cookie with this answer, so the page may already be that of the viewer.
      if (resend !== undefined) return { ...resend, viewer, headers: { ...headers, "Cache-Control": "no-store" } };
      return redirect(next, headers);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      return signInPage(services, origin, next, { why: error.failure, form });
    }
  },
});

const signOut = page({
  id: "sign-out",
  path: "/sign-out",
  get: () => redirect("/"),

  async post({ config }, { c }) {
    const cookie = cookieOf(publicOrigin(c, config));
    const cleared: Record<string, string> = cookie === undefined ? {} : { "Set-Cookie": clearCookie(cookie) };
    return redirect("/", { ...cleared, "Clear-Site-Data": '"cache"' });
  },
});

export const signInPages = [signIn, signOut];
