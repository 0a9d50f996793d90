import { isObject } from "../../kernel/json.ts";
import { readJson } from "../../kernel/read-json.ts";
import { Button, Form } from "../forms/form.tsx";
import { signInHref } from "../layout/document.tsx";
import { Code, Json } from "../parts/code.tsx";
import { number } from "../parts/figures.tsx";
import type { Viewer } from "../sign-in/viewer.ts";
import type { DescribedOperation, Parameter } from "./description.ts";
import { addressOf, type Filled, fieldOf } from "./filled.ts";

/** What an operation answered to a request from the page. */
export interface Tried {
  status: number;
  headers: [string, string][];
  text: string;
  isJson: boolean;
}

const shownHeaders = [
  ...["Content-Type", "ETag", "Location", "Retry-After", "Rollcall-Generation", "Rollcall-Directory"],
  ...["Rollcall-Source", "WWW-Authenticate", "X-Request-Id"],
];

/** A stream has no end to wait for: it is closed, and said to be one. */
export async function answerOf(response: Response, close: AbortController): Promise<Tried> {
  const { status, headers } = response;
  const type = headers.get("Content-Type") ?? "";
  const isStream = type.startsWith("text/event-stream");
  if (isStream) close.abort();
  return {
    status,
    headers: shownHeaders.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    }),
    text: isStream ? "A stream of events, which this page does not follow." : await response.text(),
    isJson: /\bjson\b/.test(type),
  };
}

export function requestOf(
  operation: DescribedOperation,
  filled: Filled,
  { base, key, signal }: { base: string; key: string | undefined; signal: AbortSignal },
): Request {
  const { method, parameters } = operation;
  const headers = new Headers({ Accept: "application/json, */*;q=0.5", ...filled.headers });
  if (filled.body) headers.set("Content-Type", filled.type ?? "application/json");
  // A page that is sent twice has one effect, where the operation knows such names.
  const takesKey = parameters.some(({ name }) => name === "Idempotency-Key");
  if (takesKey && key !== undefined && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", key);
  const body = method === "GET" ? undefined : filled.body || undefined;
  return new Request(new URL(addressOf(operation, filled), base), { method, headers, body, signal });
}

interface Trying {
  operation: DescribedOperation;
  filled: Filled;
  viewer: Viewer;
  here: string;
}

/** The form that fills in a request. Reads are sent at once; what writes is shown first, with a question. */
export function TryForm({ operation, filled, viewer, here }: Trying) {
  const { method, id } = operation;
  const action = `/docs/${id}`;
  const fields = <Fields operation={operation} filled={filled} />;
  if (method === "GET")
    return (
      <form action={`${action}#answer`} class="form">
        {fields}
        <Button label="Send it" as="primary" name="try" value="yes" />
      </form>
    );
  if (!viewer.signedIn && operation.proof === "token" && !operation.who.startsWith("anyone"))
    return (
      <p>
        <a href={signInHref(here)}>Sign in</a> to try it: it is for {operation.who.replaceAll("`", "")}.
      </p>
    );
  return (
    <Form viewer={viewer} action={`${action}#answer`}>
      {fields}
      <Button label="Look at the request" as="primary" name="try" value="ask" />
    </Form>
  );
}

function Fields({ operation: { parameters, body }, filled }: Pick<Trying, "operation" | "filled">) {
  const types = Object.keys(body?.content ?? {});
  const isMain = ({ in: place, required }: Parameter) => place === "path" || required === true;
  const valueIn = ({ in: place, name }: Parameter) =>
    (place === "path" ? filled.path : place === "query" ? filled.query : filled.headers)[name] ?? "";
  const shown = parameters.filter((one) => isMain(one) || valueIn(one) !== "");
  const others = parameters.filter((one) => !shown.includes(one));
  const field = (parameter: Parameter) => <Input parameter={parameter} value={valueIn(parameter)} />;
  return (
    <>
      {shown.map(field)}
      {others.length > 0 && (
        <details>
          <summary class="small">{others.length} more, all optional</summary>
          <div class="form">{others.map(field)}</div>
        </details>
      )}
      {types.length > 1 && (
        <div class="field">
          <label for="type">Media type</label>
          <select id="type" name="type">
            {types.map((type) => (
              <option value={type} selected={type === filled.type}>
                {type}
              </option>
            ))}
          </select>
        </div>
      )}
      {types.length > 0 && (
        <div class="field">
          <label for="body">Body</label>
          <textarea
            id="body"
            name="body"
            rows={Math.min(16, (filled.body ?? "").split("\n").length + 1)}
            spellcheck={false}
          >
            {filled.body ?? ""}
          </textarea>
        </div>
      )}
    </>
  );
}

function Input({ parameter, value }: { parameter: Parameter; value: string }) {
  const { name, in: place, required } = parameter;
  const field = fieldOf(parameter);
  return (
    <div class="field">
      <label for={field}>
        <code>{name}</code> <span class="mute">{place === "path" || required ? place : `${place}, optional`}</span>
      </label>
      <input id={field} name={field} value={value} maxlength={2_048} required={place === "path"} autocomplete="off" />
    </div>
  );
}

/** Before anything is changed: what would be sent, and for whom. */
export function Question({ operation, filled, viewer }: Omit<Trying, "here">) {
  const { method, id, parameters, body } = operation;
  const values = { path: filled.path, query: filled.query, header: filled.headers };
  return (
    <div class="refused" role="alert">
      <p>
        <strong>
          {method} {addressOf(operation, filled)}
        </strong>
      </p>
      <p>
        This is sent to the registry itself{viewer.signedIn && ` as ${viewer.principal.subject}`}, and changes what
        others see. Send it?
      </p>
      {filled.body && <Code text={filled.body} what="the body that is sent" />}
      <Form viewer={viewer} action={`/docs/${id}#answer`} class="inline">
        {parameters.map((parameter) => (
          <input type="hidden" name={fieldOf(parameter)} value={values[parameter.in][parameter.name] ?? ""} />
        ))}
        {body !== undefined && (
          <>
            <input type="hidden" name="type" value={filled.type} />
            <input type="hidden" name="body" value={filled.body ?? ""} />
          </>
        )}
        <Button label={`Yes, send the ${method}`} as="primary" name="try" value="yes" />
        <a href={`/docs/${id}`}>No</a>
      </Form>
    </div>
  );
}

const maxPrinted = 60_000;

export function Answered({ of: { status, headers, text, isJson } }: { of: Tried }) {
  const value = isJson && text.length <= maxPrinted ? parsed(text) : undefined;
  return (
    <>
      <p class="status">
        <span class={`chip ${status < 300 ? "ok" : "breaking"}`}>
          {status < 300 ? "✓" : "▲"} {status}
        </span>
      </p>
      <dl class="rows">
        {headers.map(([name, shown]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <code>{shown}</code>
            </dd>
          </>
        ))}
      </dl>
      {value === undefined ? (
        <Code text={text.slice(0, maxPrinted)} what="the answer" />
      ) : (
        <Json of={value} what="the answer" />
      )}
      {text.length > maxPrinted && (
        <p class="small mute">
          The first {number(maxPrinted)} of {number(text.length)} characters.
        </p>
      )}
    </>
  );
}

function parsed(text: string): unknown {
  try {
    const value: unknown = readJson(text);
    return isObject(value) || Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
