import type { Child } from "hono/jsx";
import type { Page, PageAnswer } from "../page.ts";
import { safeNext } from "./cookie.ts";
import { SignInForm } from "./sign-in-form.tsx";
import type { Viewer } from "./viewer.ts";

/**
 * A form says who it was made for. If that sign-in has ended when the form arrives, nothing is done: the fields go along
 * through the sign-in, and one button sends them again.
 */

/** Name of the field with the subject that a form was made for; absent in forms of visitors. */
export const madeFor = "as";
const keptPath = "kept";
const keptField = "kept.";

/** Every form that acts for a viewer has this in it. */
export function MadeFor({ viewer }: { viewer: Viewer }) {
  return viewer.signedIn ? <input type="hidden" name={madeFor} value={viewer.principal.subject} /> : null;
}

interface Arrived {
  viewer: Viewer;
  c: { req: { path: string } };
}

/** The page to answer with instead of acting; undefined if the viewer is who the form was made for. */
export function keptForm(
  page: Page,
  { viewer, c }: Arrived,
  form: URLSearchParams | undefined,
): PageAnswer | undefined {
  if (form === undefined || page.id === "sign-in") return undefined;
  const subject = form.get(madeFor);
  const isSame = subject === null ? !page.signedIn || viewer.signedIn : isSubject(viewer, subject);
  if (isSame) return undefined;
  const fields = [...form].filter(([name]) => name !== madeFor);
  const { path } = c.req;
  return {
    title: "Sign in again",
    status: 401,
    main: (
      <article class="prose">
        <h1>Your sign-in has ended</h1>
        <p>Nothing was done yet, and what you typed is kept. Sign in again; then one button sends it.</p>
        <SignInForm>
          <input type="hidden" name={keptPath} value={path} />
          {fields.map(([name, value]) => (
            <input type="hidden" name={`${keptField}${name}`} value={value} />
          ))}
        </SignInForm>
        {!page.signedIn && <Resend path={path} fields={fields} label="Send it without signing in" secondary />}
      </article>
    ),
  };
}

function isSubject({ signedIn, principal }: Viewer, subject: string): boolean {
  return signedIn && principal.subject === subject;
}

/** After a sign-in that had a form with it; undefined if it had none. */
export function resendPage(form: URLSearchParams, viewer: Viewer): PageAnswer | undefined {
  const path = safeNext(form.get(keptPath));
  if (path === "/") return undefined;
  const fields = [...form]
    .filter(([name]) => name.startsWith(keptField))
    .map(([name, value]) => [name.slice(keptField.length), value] as const);
  return {
    title: "Signed in",
    main: (
      <article class="prose">
        <h1>You are signed in</h1>
        <p>
          As <strong>{viewer.principal.subject}</strong>. Your form for <code>{path}</code> has not been sent yet.
        </p>
        <Resend path={path} fields={fields} label="Send it now">
          <MadeFor viewer={viewer} />
        </Resend>
      </article>
    ),
  };
}

interface Resending {
  path: string;
  fields: readonly (readonly [string, string])[];
  label: string;
  secondary?: true;
  children?: Child;
}

function Resend({ path, fields, label, secondary, children }: Resending) {
  return (
    <form method="post" action={path}>
      {children}
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={secondary ? undefined : "primary"}>
        {label}
      </button>
    </form>
  );
}
