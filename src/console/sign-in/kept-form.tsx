import type { Child } from "hono/jsx";
import type { Failure } from "../../kernel/failure.ts";
import type { Page, PageAnswer } from "../page.ts";
import { clip } from "../parts/text.tsx";
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
  c: { req: { url: string } };
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
  const fields = fieldsOf(form);
  const path = pathOf(c);
  return {
    title: "Sign in again",
    status: 401,
    main: (
      <article class="prose">
        <h1>{viewer.signedIn ? "This form was made for somebody else" : "Your sign-in has ended"}</h1>
        <p>
          {viewer.signedIn && `It was made for ${clip(subject ?? "", 100)}, and you are ${viewer.principal.subject}. `}
          Nothing was done yet, and what you typed is kept. Sign in again; then one button sends it.
        </p>
        <SignInForm>
          <Kept path={path} fields={fields} />
        </SignInForm>
        {!page.signedIn && !viewer.signedIn && (
          <Resend path={path} fields={fields} label="Send it without signing in" secondary />
        )}
      </article>
    ),
  };
}

/** The page for a form whose viewer may not do this any more; undefined if that is not why it failed. */
export function lostForm(
  page: Page,
  { viewer, c }: Arrived,
  form: URLSearchParams,
  { code }: Failure,
): PageAnswer | undefined {
  if (!page.signedIn || (code !== "ErrorTenantPermissionError" && code !== "ErrorInsufficientScope")) return undefined;
  const held = viewer.principal.tenants.join(", ") || "no tenant";
  return {
    title: "Not with this sign-in",
    status: 403,
    main: (
      <article class="prose">
        <p class="mute mono">403 {code}</p>
        <h1>Not with this sign-in</h1>
        <p>
          {code === "ErrorInsufficientScope"
            ? "Your sign-in may read, and not change anything: its token lacks the scope registry:publish."
            : `Your sign-in does not act for this tenant any more: it acts for ${held}.`}{" "}
          Nothing was done, and what you typed is kept.
        </p>
        <p>Sign in with a token that may do this; then one button sends it.</p>
        <SignInForm>
          <Kept path={pathOf(c)} fields={fieldsOf(form)} />
        </SignInForm>
      </article>
    ),
  };
}

/** With its query: that is part of what a form is sent to. */
function pathOf({ req }: Arrived["c"]): string {
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`;
}

type Fields = readonly (readonly [string, string])[];

function fieldsOf(form: URLSearchParams): Fields {
  return [...form].filter(([name]) => name !== madeFor);
}

/** A form that goes along through a sign-in. */
function Kept({ path, fields }: { path: string; fields: Fields }) {
  return (
    <>
      <input type="hidden" name={keptPath} value={path} />
      {fields.map(([name, value]) => (
        <input type="hidden" name={`${keptField}${name}`} value={value} />
      ))}
    </>
  );
}

/** The same once more, after a token that was refused. */
export function StillKept({ form }: { form: URLSearchParams }) {
  const kept = keptIn(form);
  return kept === undefined ? null : <Kept {...kept} />;
}

function keptIn(form: URLSearchParams): { path: string; fields: Fields } | undefined {
  const path = safeNext(form.get(keptPath));
  if (path === "/") return undefined;
  const fields = [...form]
    .filter(([name]) => name.startsWith(keptField))
    .map(([name, value]) => [name.slice(keptField.length), value] as const);
  return { path, fields };
}

function isSubject({ signedIn, principal }: Viewer, subject: string): boolean {
  return signedIn && principal.subject === subject;
}

/** After a sign-in that had a form with it; undefined if it had none. */
export function resendPage(form: URLSearchParams, viewer: Viewer): PageAnswer | undefined {
  const kept = keptIn(form);
  if (kept === undefined) return undefined;
  const { path, fields } = kept;
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
  fields: Fields;
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
