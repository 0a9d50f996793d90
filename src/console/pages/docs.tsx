import type { Child } from "hono/jsx";
import { z } from "zod";
import { requestError } from "../../http/context.ts";
import { type FailureCode, failure, statusOf } from "../../kernel/failure.ts";
import { isObject } from "../../kernel/json.ts";
import { keyOf } from "../forms/form.tsx";
import { type Call, type PageAnswer, page } from "../page.ts";
import { Code } from "../parts/code.tsx";
import { plural } from "../parts/figures.tsx";
import { asCli, asCurl, asTypeScript } from "../reference/calls.ts";
import { canBeTried, type Described, type DescribedOperation, readDescription } from "../reference/description.ts";
import { exampleOf, type Filled, filledIn } from "../reference/filled.ts";
import { Answered, answerOf, Question, requestOf, type Tried, TryForm } from "../reference/try-it.tsx";
import { SchemaTable } from "../schema/schema-table.tsx";

const reference = page({
  id: "docs",
  path: "/docs",

  async get(services) {
    const { tags, operations } = await readDescription(services);
    return {
      title: "Reference",
      nav: "docs",
      same: { json: "/openapi.json" },
      // It changes with a deployment alone.
      holds: () => true,
      main: (
        <>
          <h1>Reference</h1>
          <p class="soft">
            Every operation of the API: {operations.length} of them, each with the same call as curl, TypeScript and
            command, and a form to try it.
          </p>
          <p class="js-only spaced narrow">
            <label for="narrow">Find an operation</label>
            <input id="narrow" type="search" data-filter="[data-words]" placeholder="hook, diff, PUT …" />
          </p>
          {tags.map(({ name, description }) => (
            <section class="operations" aria-labelledby={anchorOf(name)}>
              <h2 id={anchorOf(name)}>{name}</h2>
              <p class="soft small">{description}</p>
              <ul class="ledger">
                {operations
                  .filter(({ tag }) => tag === name)
                  .map((operation) => (
                    <Listed of={operation} />
                  ))}
              </ul>
            </section>
          ))}
        </>
      ),
    };
  },
});

const anchorOf = (tag: string) => tag.toLowerCase().replaceAll(" ", "-");

function Listed({ of: { id, method, path, summary, who } }: { of: DescribedOperation }) {
  return (
    <li data-words={`${method} ${path} ${summary} ${id}`}>
      <Method of={method} />
      <div>
        <a class="name" href={`/docs/${id}`}>
          {summary}
        </a>
        <p class="line">
          <code>{path}</code>
        </p>
      </div>
      <p class="small mute">{words(who)}</p>
    </li>
  );
}

function Method({ of }: { of: DescribedOperation["method"] }) {
  return <span class={`method ${of === "GET" ? "" : "writes"}`}>{of}</span>;
}

/** Text of the declarations: backticks mark code. */
function words(text: string): Child {
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>));
}

type OperationCall = Call<{ operationId: z.ZodString }, Record<never, never>>;

const operationPage = page({
  id: "docs-operation",
  path: "/docs/{operationId}",
  parameters: { path: { operationId: z.string() } },

  async get(services, call) {
    const described = await readDescription(services);
    const operation = find(described, call.path.operationId);
    const typed = new URL(call.c.req.url).searchParams;
    if (typed.get("try") === null || operation.method !== "GET") {
      const filled = exampleOf(operation);
      return { ...show(described, operation, filled, call), holds: typed.size === 0 ? () => true : undefined };
    }
    const filled = filledIn(operation, typed);
    const tried = canBeTried(operation) ? await send(operation, filled, call) : undefined;
    return show(described, operation, filled, call, { tried });
  },

  async post(services, call) {
    const described = await readDescription(services);
    const operation = find(described, call.path.operationId);
    if (operation.method === "GET" || !canBeTried(operation)) throw requestError("ErrorMethodNotAllowed");
    const filled = filledIn(operation, call.form);
    if (call.form.get("try") !== "yes") return show(described, operation, filled, call, { asks: true });
    return show(described, operation, filled, call, { tried: await send(operation, filled, call, keyOf(call.form)) });
  },
});

function find({ operations }: Described, id: string): DescribedOperation {
  const found = operations.find((operation) => operation.id === id);
  if (found === undefined) throw requestError("ErrorNotFound", undefined, { hint: "/docs lists every operation" });
  return found;
}

async function send(operation: DescribedOperation, filled: Filled, { dispatch, c }: OperationCall, key?: string) {
  const close = new AbortController();
  const signal = AbortSignal.any([close.signal, c.req.raw.signal]);
  const request = headersFit(filled) ? requestOf(operation, filled, { base: c.req.url, key, signal }) : undefined;
  if (request === undefined) throw requestError("ErrorBadRequest", "A header has a character that headers cannot have");
  return answerOf(await dispatch(request), close);
}

function headersFit({ headers }: Filled): boolean {
  return Object.values(headers).every((value) => /^[\x20-\x7e]*$/.test(value));
}

interface Outcome {
  tried?: Tried | undefined;
  asks?: true;
}

function show(
  { components }: Described,
  operation: DescribedOperation,
  filled: Filled,
  { viewer, origin, c }: OperationCall,
  { tried, asks }: Outcome = {},
): PageAnswer {
  const { id, method, path, summary, description, who, tag } = operation;
  const here = new URL(c.req.url).pathname;
  return {
    title: summary,
    nav: "docs",
    same: { json: "/openapi.json" },
    headers: tried === undefined ? {} : { "Cache-Control": "private, no-store" },
    main: (
      <>
        <nav class="crumbs" aria-label="Where you are">
          <a href="/docs">Reference</a> / <a href={`/docs#${anchorOf(tag)}`}>{tag}</a> / {id}
        </nav>
        <h1>{summary}</h1>
        <p class="request">
          <Method of={method} /> <code>{path}</code> <a href="#try">Try it</a>
        </p>
        <div class="reference">
          <div class="block">
            {description !== undefined && <p class="text">{words(description)}</p>}
            <p class="small">
              <span class="mute">Who may call it:</span> {words(who)}
            </p>
            <Parameters of={operation} components={components} />
            <Body of={operation} components={components} />
            <Answers of={operation} components={components} />
            <Failures of={operation} />
          </div>
          <div class="block">
            <h2 class="label">The same call</h2>
            <details open>
              <summary>curl</summary>
              <Code text={asCurl(operation, filled, origin)} what="the call as curl" />
            </details>
            <details open>
              <summary>TypeScript</summary>
              <Code text={asTypeScript(operation, filled, origin)} what="the call in TypeScript" />
            </details>
            <details open>
              <summary>Command line</summary>
              <Code text={asCli(operation, filled)} what="the call as a command" />
            </details>
            {(asks || tried !== undefined) && (
              <section id="answer" class="block" aria-label="Answer">
                {asks && <Question operation={operation} filled={filled} viewer={viewer} />}
                {tried !== undefined && (
                  <>
                    <h2 class="label">Answer</h2>
                    <Answered of={tried} />
                  </>
                )}
              </section>
            )}
            <h2 class="label" id="try">
              Try it
            </h2>
            {canBeTried(operation) ? (
              <TryForm operation={operation} filled={filled} viewer={viewer} here={here} />
            ) : (
              <p class="soft small">{cannotBeTried(operation)}</p>
            )}
          </div>
        </div>
      </>
    ),
  };
}

function cannotBeTried({ proof }: DescribedOperation): string {
  if (proof === "signature") return "Not from here: only the publisher has the key that signs it.";
  return "Not from here: the answer is a stream that goes on. The call above follows it.";
}

interface Part {
  of: DescribedOperation;
  components: Record<string, unknown>;
}

const placeWords = { path: "In the path", query: "In the query", header: "Header" } as const;

function Parameters({ of: { parameters }, components }: Part) {
  return (
    <>
      {(["path", "query", "header"] as const).map((place) => {
        const here = parameters.filter((one) => one.in === place);
        if (here.length === 0) return null;
        const properties = Object.fromEntries(
          here.map(({ name, schema, description }) => [name, { ...schema, description }]),
        );
        const required = here.filter((one) => one.required).map(({ name }) => name);
        const schema = { type: "object", properties, required, components };
        return <SchemaTable schema={schema} caption={placeWords[place]} anchor={place} describe={words} />;
      })}
    </>
  );
}

const most = 150;

function Body({ of: { body }, components }: Part) {
  if (body === undefined) return null;
  const [content] = Object.values(body.content);
  return (
    <>
      <h2 class="label">Body{body.required ? "" : ", optional"}</h2>
      <p class="small mute">
        {Object.keys(body.content).join(", ")}
        {body.description !== undefined && <>. {words(body.description)}</>}
      </p>
      {content?.schema !== undefined && (
        <SchemaTable
          schema={{ ...content.schema, components }}
          caption="Member"
          anchor="body"
          most={most}
          describe={words}
        />
      )}
    </>
  );
}

function Answers({ of: { answers }, components }: Part) {
  return (
    <>
      <h2 class="label">Answers</h2>
      {answers.length === 0 && <p class="small">None: it is there to be refused, with the reason.</p>}
      {answers.map(({ status, description, content }) => (
        <section class="block" aria-label={`Answer ${status}`}>
          <p class="small">
            <strong class="num">{status}</strong> {words(description)}{" "}
            <span class="mute">{Object.keys(content).join(", ")}</span>
          </p>
          {Object.values(content).map(({ schema }) => {
            if (!isObject(schema) || typeof schema.$ref !== "string") return null;
            const inside = insideOf(schema.$ref, components);
            return (
              <SchemaTable
                schema={inside.schema}
                caption={inside.caption}
                anchor={`answer-${status}`}
                most={most}
                describe={words}
              />
            );
          })}
        </section>
      ))}
    </>
  );
}

/** The data inside the envelope, which is the same for all. */
function insideOf(ref: string, components: Record<string, unknown>) {
  const schemas = components.schemas as Record<string, { properties?: Record<string, unknown> }>;
  const { data, success } = schemas[ref.split("/").at(-1) ?? ""]?.properties ?? {};
  if (success === undefined || !isObject(data)) return { schema: { $ref: ref, components }, caption: "Member" };
  return { schema: { ...data, components }, caption: "Member of data" };
}

function Failures({ of: { failures } }: { of: DescribedOperation }) {
  return (
    <details>
      <summary>
        {plural(
          failures.reduce((sum, { codes }) => sum + codes.length, 0),
          "way",
        )}{" "}
        to fail
      </summary>
      <table class="params">
        <caption class="vh">What may fail</caption>
        <thead>
          <tr>
            <th scope="col">Status and code</th>
            <th scope="col">Means</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {failures.flatMap(({ codes }) =>
            codes.map((code) => {
              const { message, details } = failure(code as FailureCode);
              return (
                <tr>
                  <td>
                    <span class="num">{statusOf(code as FailureCode)}</span> <code>{code}</code>
                  </td>
                  <td>{words(message)}</td>
                  <td>{words(String(details?.hint ?? ""))}</td>
                </tr>
              );
            }),
          )}
        </tbody>
      </table>
    </details>
  );
}

export const docsPages = [reference, operationPage];
