import type { Child } from "hono/jsx";
import type { Failure } from "../../kernel/failure.ts";
import { isObject } from "../../kernel/json.ts";
import type { ContextAnswer, NegotiationResponse } from "../../sessions/answer-schema.ts";
import { MadeFor } from "../sign-in/kept-form.tsx";
import type { Viewer } from "../sign-in/viewer.ts";
import { Chips } from "./chips.tsx";
import { Json } from "./code.tsx";
import { Bar, number } from "./figures.tsx";
import { capabilityHref } from "./item.tsx";
import { clip, text } from "./text.tsx";

const context = "dev.rollcall/context";

/** What became of a negotiation. */
export interface Outcome {
  request?: unknown;
  answer?: NegotiationResponse;
  failed?: Failure;
  note?: string;
}

export function OutcomeShown({ of: { request, answer, failed, note }, viewer }: { of: Outcome; viewer: Viewer }) {
  return (
    <>
      {note !== undefined && (
        <p class="note" role="status">
          {note}
        </p>
      )}
      {failed !== undefined && <Refused of={failed} />}
      {answer !== undefined && <Settled of={answer} viewer={viewer} />}
      {request !== undefined && (
        <details>
          <summary>
            The request: <code>POST /mcp/negotiate</code>
          </summary>
          <Json of={request} what="the request as JSON" />
        </details>
      )}
      {answer !== undefined && (
        <details>
          <summary>The answer</summary>
          <Json of={answer} what="the answer as JSON" />
        </details>
      )}
    </>
  );
}

function Refused({ of: { code, message, details } }: { of: Failure }) {
  return (
    <div class="warn block">
      <p>
        <strong>{text(message)}</strong>
      </p>
      <ul class="plain-list small">
        {(details?.issues ?? []).slice(0, 10).map((issue) => (
          <li>
            <code>{text(issue.path)}</code> {text(issue.message)}
          </li>
        ))}
      </ul>
      {details?.hint !== undefined && <p class="small">{details.hint}</p>}
      <p class="mute mono small">{code}</p>
    </div>
  );
}

function Settled({ of: { negotiated, session, extensions }, viewer }: { of: NegotiationResponse; viewer: Viewer }) {
  const chosen = extensions[context];
  const choice = isObject(chosen) && "used_tokens" in chosen ? (chosen as ContextAnswer) : undefined;
  const items = chosen?.items ?? [];
  return (
    <>
      {choice !== undefined && <Chosen of={choice} />}
      <section class="block" aria-labelledby="settled-title">
        <h2 class="label" id="settled-title">
          Settled
        </h2>
        <ul class="plain-list small">
          {negotiated.capabilities.map(({ name, version }) => (
            <li>
              <span class="chip ok">✓ agreed</span> <code>{text(name)}</code> {version}
            </li>
          ))}
          {negotiated.declined.map(({ name, message }) => (
            <li>
              <span class="chip">– declined</span> <code>{text(clip(name, 80))}</code> {text(message)}
            </li>
          ))}
        </ul>
      </section>
      <section class="block" aria-labelledby="session-title">
        <h2 class="label" id="session-title">
          Session
        </h2>
        <p class="small wrap">
          <code>{session.id}</code>
        </p>
        <div class="inline">
          {session.resume_token !== undefined && (
            <form method="post" action="/negotiate">
              <MadeFor viewer={viewer} />
              <input type="hidden" name="resume" value={session.resume_token} />
              <button type="submit">Resume under a new id</button>
            </form>
          )}
          <form method="post" action="/negotiate">
            <MadeFor viewer={viewer} />
            <input type="hidden" name="end" value={session.id} />
            <button type="submit">End the session</button>
          </form>
        </div>
        {items.length > 0 && (
          <div class="js-only">
            <p class="small mute" data-session-state>
              Connecting …
            </p>
            <ul class="plain-list small" data-session={session.id} aria-live="polite" />
          </div>
        )}
      </section>
    </>
  );
}

function Chosen({ of: { items, left_out: leftOut, changed, budget, used_tokens: used } }: { of: ContextAnswer }) {
  const most = Math.max(1, ...items.map(({ tokens }) => tokens));
  return (
    <section class="block" aria-labelledby="chosen-title">
      <h2 id="chosen-title">
        {items.length} chosen{" "}
        <span class="soft">
          {number(used)} of {number(budget)} tokens
        </span>
      </h2>
      <ul class="ledger">
        {items.map(({ tenant, id, name, server, tokens, why, registry }) => (
          <li>
            <div class="row">
              <div>
                <a class="name" href={capabilityHref(tenant, id)}>
                  {text(clip(name, 120))}
                </a>{" "}
                <span class="small mute">
                  {tenant}/{server} · {why}
                </span>{" "}
                <Chips of={registry} />
              </div>
              <div class="cost">
                <span class="num">{number(tokens)}</span>
                <Bar of={tokens} most={most} />
              </div>
            </div>
          </li>
        ))}
      </ul>
      <LeftOut of={leftOut} />
      {changed.length > 0 && (
        <div>
          <h3>Changed since pinned</h3>
          <ul class="plain-list small">
            {changed.map(({ tenant, id, classification }) => (
              <li>
                <span class={`chip ${classification}`}>
                  {glyphs[classification] ?? "~"} {classification}
                </span>{" "}
                <code>{text(`${tenant} ${clip(id, 100)}`)}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

const glyphs: Record<string, string> = { breaking: "▲", additive: "+", cosmetic: "~", removed: "–", unknown: "?" };

function LeftOut({ of: leftOut }: { of: ContextAnswer["left_out"] }): ReturnType<typeof Chosen> | null {
  if (leftOut.length === 0) return null;
  const rows: Child[] = leftOut.map(({ id, tenant, message }) => (
    <li>
      <code>{text(`${tenant === undefined ? "" : `${tenant} `}${clip(id, 100)}`)}</code>{" "}
      <span class="mute">{text(message)}</span>
    </li>
  ));
  return (
    <details open={rows.length <= 5}>
      <summary class="small">{rows.length} left out</summary>
      <ul class="plain-list small">{rows}</ul>
    </details>
  );
}
