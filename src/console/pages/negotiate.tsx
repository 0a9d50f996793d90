import type { z } from "zod";
import { requestError, unwrap } from "../../http/context.ts";
import { streamMeta } from "../../http/event-stream.ts";
import { consumeRateLimit } from "../../http/request.ts";
import { failure, statusOf } from "../../kernel/failure.ts";
import { zodIssues } from "../../kernel/zod-issues.ts";
import { describeSession } from "../../sessions/describe.ts";
import { openSession, resumeSession } from "../../sessions/open.ts";
import { endStreams, ownerOf } from "../../sessions/owner.ts";
import { readResumeToken } from "../../sessions/resume-token.ts";
import { NegotiationRequest } from "../../sessions/schema.ts";
import { openSessionStream } from "../../sessions/stream.ts";
import type { ConsoleDeps } from "../deps.ts";
import { type PageAnswer, page } from "../page.ts";
import { type Outcome, OutcomeShown } from "../parts/negotiation.tsx";
import { MadeFor } from "../sign-in/kept-form.tsx";
import { requireOwnPage } from "../sign-in/same-origin.ts";
import type { Viewer } from "../sign-in/viewer.ts";

const known = ["sampling", "notifications", "session_resume"] as const;
const context = "dev.rollcall/context";

/** What the form has in it, as typed. */
interface Typed {
  capabilities: string[];
  others: string;
  task: string;
  budget: string;
  must: string;
  pins: string;
}

const example: Typed = {
  capabilities: ["sampling", "notifications", "session_resume"],
  others: "",
  task: "will it rain tomorrow",
  budget: "300",
  must: "",
  pins: "",
};

const negotiate = page({
  id: "negotiate",
  path: "/negotiate",
  get: (_, { viewer }) => answerPage(viewer, example, undefined),

  async post(services, { viewer, form }) {
    if (form.has("end")) return ended(services, viewer, form.get("end") ?? "");
    consumeRateLimit(services, services.negotiateLimiter, viewer.principal.subject);
    if (form.has("resume")) return resumed(services, viewer, form.get("resume") ?? "");
    const typed = typedIn(form);
    const request = requestOf(typed);
    const issues = zodIssues(NegotiationRequest, request, "");
    const [first] = issues;
    if (first !== undefined) {
      const reason = failure("ErrorNegotiationInvalid", `${first.path} ${first.message}`, { issues });
      return answerPage(viewer, typed, { request, failed: reason });
    }
    const opened = await openSession(services, viewer.principal, request as z.infer<typeof NegotiationRequest>);
    if (!opened.ok) return answerPage(viewer, typed, { request, failed: opened.error });
    return answerPage(viewer, typed, { request, answer: describeSession(services, viewer.principal, opened.value) });
  },
});

async function resumed(services: ConsoleDeps, viewer: Viewer, given: string): Promise<PageAnswer> {
  const token = await readResumeToken(given);
  const again = token && unwrap(await resumeSession(services, viewer.principal, token));
  if (again === undefined) return answerPage(viewer, example, { failed: failure("ErrorResumeInvalid") });
  return answerPage(viewer, example, { answer: describeSession(services, viewer.principal, again) });
}

async function ended(services: ConsoleDeps, viewer: Viewer, id: string): Promise<PageAnswer> {
  const owner = ownerOf(viewer.principal);
  const session = await services.sessions.check(id, owner);
  if (session === undefined || !(await services.sessions.end(id, owner)))
    return answerPage(viewer, example, { failed: failure("ErrorSessionInvalid") });
  await endStreams(services, viewer.principal, { id, held: session.held });
  return answerPage(viewer, example, { note: "The session has ended, and its streams with it." });
}

function typedIn(form: URLSearchParams): Typed {
  const field = (name: string) => form.get(name) ?? "";
  return {
    capabilities: form.getAll("capability"),
    others: field("others"),
    task: field("task"),
    budget: field("budget"),
    must: field("must"),
    pins: field("pins"),
  };
}

const words = (typed: string) => typed.split(/[\s,]+/).filter((word) => word !== "");
const lines = (typed: string) =>
  typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The request that an agent would send. Numbers that are none stay texts: the schema says what is wrong with them. */
function requestOf({ capabilities, others, task, budget, must, pins }: Typed): Record<string, unknown> {
  const wish = {
    budget: /^\d{1,10}$/.test(budget.trim()) ? Number(budget) : budget,
    task: task.trim() === "" ? undefined : task,
    must_have: listOrNone(lines(must).map((id) => ({ id }))),
    pins: listOrNone(
      lines(pins).map((line) => {
        const [id, digest = ""] = line.split(/\s+/);
        return { id, digest };
      }),
    ),
  };
  const wants = budget.trim() !== "" || task.trim() !== "" || wish.must_have !== undefined || wish.pins !== undefined;
  return {
    client_name: "console",
    client_version: "1.0.0",
    supported_capabilities: [...new Set([...capabilities, ...words(others), ...(wants ? [context] : [])])],
    ...(wants ? { extensions: { [context]: wish } } : {}),
  };
}

function listOrNone<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function answerPage(viewer: Viewer, typed: Typed, outcome: Outcome | undefined): PageAnswer {
  return {
    title: "Negotiate",
    nav: "negotiate",
    status: outcome?.failed === undefined ? 200 : statusOf(outcome.failed.code),
    headers: { "Cache-Control": "private, no-store" },
    main: (
      <>
        <h1>Negotiate</h1>
        <p class="soft">What an agent says it can do and needs, and what the registry settles on.</p>
        <div class="grid2 spaced">
          <NegotiateForm viewer={viewer} typed={typed} />
          <section aria-label="Outcome" id="outcome">
            {outcome === undefined ? (
              <p class="mute">The form has an example in it. Send it, and the outcome is here.</p>
            ) : (
              <OutcomeShown of={outcome} viewer={viewer} />
            )}
          </section>
        </div>
      </>
    ),
  };
}

function NegotiateForm({ viewer, typed }: { viewer: Viewer; typed: Typed }) {
  return (
    <form method="post" action="/negotiate" class="form">
      <MadeFor viewer={viewer} />
      <fieldset>
        <legend>The agent can</legend>
        {known.map((name) => (
          <label class="check">
            <input type="checkbox" name="capability" value={name} checked={typed.capabilities.includes(name)} />
            <code>{name}</code>
          </label>
        ))}
        <Field name="others" label="Others, by name" value={typed.others} placeholder="roots elicitation" />
      </fieldset>
      <Field name="task" label="Task" value={typed.task} />
      <Field name="budget" label="Budget, tokens" value={typed.budget} mode="numeric" />
      <Area name="must" label="Must have, one id a line" value={typed.must} placeholder="mcp.weather.get_forecast" />
      <Area
        name="pins"
        label="Pins, id and digest"
        value={typed.pins}
        placeholder="mcp.weather.get_forecast sha256-…"
      />
      <p>
        <button type="submit" class="primary">
          Negotiate
        </button>
      </p>
    </form>
  );
}

interface FieldShown {
  name: string;
  label: string;
  value: string;
  placeholder?: string;
  mode?: "numeric";
}

function Field({ name, label, value, placeholder, mode }: FieldShown) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value} placeholder={placeholder} inputmode={mode} autocomplete="off" />
    </div>
  );
}

function Area({ name, label, value, placeholder }: FieldShown) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea id={name} name={name} rows={2} placeholder={placeholder}>
        {value}
      </textarea>
    </div>
  );
}

/** The stream of changes for the session on the page: the cookie says who asks, so it is for our own pages only. */
const sessionChanges = page({
  id: "session-changes",
  path: "/console/api/session/changes",

  async get(services, { c, viewer, origin }) {
    requireOwnPage(c, origin);
    const id = c.req.header("X-MCP-Session-ID") ?? "";
    const session = id === "" ? undefined : await services.sessions.check(id, ownerOf(viewer.principal));
    if (session?.id === undefined) throw requestError("ErrorSessionInvalid");
    const stream = await openSessionStream(
      services,
      viewer.principal,
      { ...session, id: session.id },
      { lastEventId: c.req.header("Last-Event-ID"), signal: c.req.raw.signal },
    );
    const { type, headers } = streamMeta();
    return new Response(stream, { headers: { "Content-Type": type, ...headers } });
  },
});

export const negotiatePages = [negotiate, sessionChanges];
