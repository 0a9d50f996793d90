import { z } from "zod";
import type { Hook, HookWithDeliveries, RotatedHook } from "../../../hooks/schema.ts";
import { RequestFailed, requestError, unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { type Failure, statusOf } from "../../../kernel/failure.ts";
import { at } from "../../api.ts";
import type { ConsoleDeps } from "../../deps.ts";
import { keyOf, Refused } from "../../forms/form.tsx";
import { throwIfLost } from "../../forms/lost.ts";
import { redirectWith } from "../../forms/notice.ts";
import { Said } from "../../forms/said.tsx";
import { ManageFrame, manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type Notice, type PageAnswer, page } from "../../page.ts";
import { Code } from "../../parts/code.tsx";
import { Ago } from "../../parts/figures.tsx";
import { clip, text } from "../../parts/text.tsx";
import { overlapIn, Pause, Remove, Rotate } from "../../parts/webhook-forms.tsx";

const path = { tenant: serverParameters.tenant, id: z.string() };
type Asked = Call<typeof path, Record<never, never>> & { form: URLSearchParams };

const one = page({
  id: "manage-hook",
  path: "/manage/{tenant}/hooks/{id}",
  parameters: { path },
  signedIn: true,
  get: (_, call) => hookPage({ ...call, form: new URLSearchParams() }),

  async post(services, call) {
    const {
      path: { tenant, id },
      api,
      form,
    } = call;
    const address = at`/api/hooks/${tenant}/${id}`;
    const word = form.get("do");
    if (word === "pause" || word === "resume") {
      const changed = await api<Hook>(address, { method: "PATCH", body: { enabled: word === "resume" } });
      const said = word === "pause" ? "The hook is paused: its events are refused." : "The hook takes events again.";
      return changed.ok ? done(services, call, { text: said }) : refusedBy(call, changed.error);
    }
    if (word === "rotate") {
      const body = { overlapSeconds: overlapIn(form) };
      const options = { method: "POST", body, key: keyOf(form) } as const;
      const rotated = await api<z.infer<typeof RotatedHook>>(`${address}/rotate`, options);
      if (!rotated.ok) return refusedBy(call, rotated.error);
      return done(services, call, { text: "The hook has a new secret.", secret: rotated.value.data.secret });
    }
    if (word === "delete") {
      const removed = await api<unknown>(address, { method: "DELETE" });
      // Not found: the second of two clicks.
      if (!removed.ok && removed.error.code !== "ErrorHookNotFound") return refusedBy(call, removed.error);
      return done(services, call, { text: "The hook is deleted." }, manageHref(tenant, "hooks"));
    }
    throw requestError("ErrorBadRequest", "The form does not say what to do", { hint: "Open the page again" });
  },
});

function done(services: ConsoleDeps, { c, viewer, path: { tenant, id } }: Asked, notice: Notice, to?: string) {
  return redirectWith({ c, services, viewer }, to ?? at`/manage/${tenant}/hooks/${id}`, notice);
}

function refusedBy(call: Asked, error: Failure): Promise<PageAnswer> {
  throwIfLost(error);
  if (error.code === "ErrorHookNotFound") throw new RequestFailed(error);
  return hookPage(call, error);
}

async function hookPage(call: Asked, refused?: Failure): Promise<PageAnswer> {
  const {
    viewer,
    path: { tenant, id },
    origin,
    now,
    api,
    notice,
  } = call;
  const address = at`/api/hooks/${tenant}/${id}`;
  const { data: hook } = unwrap(await api<HookWithDeliveries>(address));
  const here = at`/manage/${tenant}/hooks/${id}`;
  const url = `${origin}${at`/hooks/${hook.tenant}/${id}`}`;
  const placed = { viewer, action: here };
  return {
    title: `Hook of ${hook.server}`,
    nav: "manage",
    status: refused === undefined ? 200 : statusOf(refused.code),
    same: { json: address, cli: `hooks show ${tenant}/${id}` },
    source: "object",
    main: (
      <ManageFrame
        tenant={tenant}
        tab="hooks"
        crumbs={<a href={manageHref(tenant, "hooks")}>Hooks</a>}
        heading={`Hook of ${hook.server}`}
      >
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        <div class="manage">
          <div>
            <section class="block" aria-labelledby="about-title">
              <h2 id="about-title">About</h2>
              <About hook={hook} url={url} now={now} />
              <Pause {...placed} isOn={hook.enabled} />
            </section>
            <section class="block" aria-labelledby="secret-title">
              <h2 id="secret-title">Secret</h2>
              {hook.signature === "secret" ? (
                <Rotate
                  {...placed}
                  hours={call.form.get("hours") ?? "24"}
                  what="Both are taken until then. At most 168 hours; 0 ends the earlier one at once."
                />
              ) : (
                <p class="small">
                  The publisher signs with a key of its own. The next one is sent with{" "}
                  <code>{`POST /api/hooks/${tenant}/${id}/rotate {"publicKey": "whpk_…"}`}</code>
                </p>
              )}
            </section>
            <Remove
              {...placed}
              what="hook"
              lost="Its address stops taking events at once, and its deliveries are forgotten."
            />
          </div>
          <section class="block" aria-labelledby="deliveries-title">
            <h2 id="deliveries-title">Deliveries</h2>
            <Deliveries hook={hook} url={url} now={now} />
          </section>
        </div>
      </ManageFrame>
    ),
  };
}

function About({ hook, url, now }: { hook: HookWithDeliveries; url: string; now: number }) {
  const { server, enabled, events, format, keys, description, createdAt, createdBy } = hook;
  return (
    <dl class="rows">
      <dt>State</dt>
      <dd>
        {enabled ? <span class="chip ok">● on</span> : <span class="chip stale">◌ paused: events are refused</span>}
      </dd>
      <dt>Address</dt>
      <dd>
        <code>{url}</code>
      </dd>
      <dt>Server</dt>
      <dd>
        <a href={at`/manage/${hook.tenant}/servers/${server}`}>{server}</a>
      </dd>
      <dt>May say</dt>
      <dd>{events.join(", ")}</dd>
      <dt>Format</dt>
      <dd>{format}</dd>
      <dt>Keys</dt>
      <dd>
        {keys.map(({ id, until }, index) => (
          <>
            {index > 0 && <br />}
            <code>{id.slice(0, 8)}</code>{" "}
            {until === undefined ? "current" : `good until ${until.slice(0, 16).replace("T", " ")} UTC`}
          </>
        ))}
      </dd>
      {description !== undefined && (
        <>
          <dt>Description</dt>
          <dd>{text(clip(description, 400))}</dd>
        </>
      )}
      <dt>Made</dt>
      <dd>
        <Ago at={createdAt} now={now} /> by {text(clip(createdBy, 80))}
      </dd>
    </dl>
  );
}

function Deliveries({ hook: { deliveries }, url, now }: { hook: HookWithDeliveries; url: string; now: number }) {
  if (deliveries.length === 0)
    return (
      <>
        <p>Nothing has come yet. The publisher sends the first event with the secret in its environment:</p>
        <Code
          what="the command that sends an event"
          text={`export ROLLCALL_HOOK_URL=${url}\nexport ROLLCALL_HOOK_SECRET=whsec_…\nrollcall hooks send manifest.json`}
        />
      </>
    );
  return (
    <ul class="ledger">
      {deliveries.map(({ message, at: when, type, sequence, outcome, generation, reason }) => (
        <li>
          <p class="sub">
            <span class={`chip ${outcome === "refused" ? "high" : outcome === "applied" ? "ok" : ""}`}>{outcome}</span>
            <code>{text(clip(type, 60))}</code>
            {sequence !== undefined && <span class="num">#{sequence}</span>}
            <Ago at={when} now={now} />
            {generation !== undefined && <span>generation {generation}</span>}
          </p>
          <p class="small mute wrap">{text(clip(message, 120))}</p>
          {reason !== undefined && <p class="small error">{text(clip(reason, 400))}</p>}
        </li>
      ))}
    </ul>
  );
}

export const hookPages = [one];
