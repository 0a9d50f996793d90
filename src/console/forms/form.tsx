import type { Child } from "hono/jsx";
import type { Failure } from "../../kernel/failure.ts";
import { clip, text } from "../parts/text.tsx";
import { MadeFor } from "../sign-in/kept-form.tsx";
import type { Viewer } from "../sign-in/viewer.ts";

/** Fields that every form has beside its own. */
export const keyField = "key";
export const tagField = "tag";

interface Filled {
  viewer: Viewer;
  action: string;
  /** The tag of the state that the form shows, where another write could make it stale. */
  tag?: string | undefined;
  class?: string;
  children?: Child;
}

/**
 * A form that changes something. It says for whom it was made, and has a name of its own: sent twice, by a double click or
 * a reload, it has one effect.
 */
export function Form({ viewer, action, tag, class: className = "form", children }: Filled) {
  return (
    <form method="post" action={action} class={className}>
      <MadeFor viewer={viewer} />
      <input type="hidden" name={keyField} value={crypto.randomUUID()} />
      {tag !== undefined && <input type="hidden" name={tagField} value={tag} />}
      {children}
    </form>
  );
}

/** The name of a form that was sent; undefined if what came is no name, and the request may not be named by it. */
export function keyOf(form: URLSearchParams): string | undefined {
  const key = form.get(keyField) ?? "";
  return /^[\w-]{1,100}$/.test(key) ? key : undefined;
}

export function tagOf(form: URLSearchParams): string | undefined {
  return form.get(tagField)?.slice(0, 500) || undefined;
}

interface FieldShown {
  name: string;
  label: string;
  value?: string | undefined;
  help?: Child;
  placeholder?: string;
  required?: boolean;
  type?: "text" | "url" | "number";
  max?: number;
}

export function Field({ name, label, value, help, placeholder, required, type, max = 2_048 }: FieldShown) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type ?? "text"}
        value={value}
        placeholder={placeholder}
        required={required}
        maxlength={max}
        autocomplete="off"
        aria-describedby={help === undefined ? undefined : `${name}-help`}
      />
      {help !== undefined && (
        <p class="small mute" id={`${name}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

interface BoxShown {
  name: string;
  value?: string;
  label: Child;
  checked: boolean;
  type?: "checkbox" | "radio";
}

export function Box({ name, value = "on", label, checked, type = "checkbox" }: BoxShown) {
  return (
    <label class="check">
      <input type={type} name={name} value={value} checked={checked} />
      <span>{label}</span>
    </label>
  );
}

interface ButtonShown {
  label: string;
  /** How the button looks. */
  as?: "primary" | "danger";
  name?: string;
  value?: string;
}

export function Button({ label, as, name, value }: ButtonShown) {
  return (
    <button type="submit" class={as} name={name} value={value}>
      {label}
    </button>
  );
}

const mostIssues = 10;

/** Why a form was refused: what, where, and what to do next. Nothing was changed. */
export function Refused({ why: { message, details } }: { why: Failure }) {
  const issues = details?.issues ?? [];
  const reason = details?.message;
  return (
    <div class="refused" role="alert">
      <p>
        <strong>Nothing was changed.</strong> {text(clip(message, 600))}
        {reason !== undefined && <>: {text(clip(String(reason), 600))}</>}
      </p>
      {issues.length > 0 && (
        <ul>
          {issues.slice(0, mostIssues).map((issue) => (
            <li>
              {issue.path !== "" && <code>{text(clip(issue.path, 120))}</code>} {text(clip(issue.message, 300))}
            </li>
          ))}
        </ul>
      )}
      {details?.hint !== undefined && <p class="small">{text(clip(String(details.hint), 400))}</p>}
    </div>
  );
}
