import { z } from "zod";
import { RequestFailed, requestError, unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { type Failure, statusOf } from "../../../kernel/failure.ts";
import type {
  RotatedSubscription,
  Subscription,
  SubscriptionWithAttempts,
  TestDelivery,
} from "../../../subscriptions/schema.ts";
import { at } from "../../api.ts";
import type { ConsoleDeps } from "../../deps.ts";
import { Button, Form, keyOf, Refused } from "../../forms/form.tsx";
import { throwIfLost } from "../../forms/lost.ts";
import { redirectWith } from "../../forms/notice.ts";
import { Said } from "../../forms/said.tsx";
import { ManageFrame, manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type Notice, type PageAnswer, page } from "../../page.ts";
import { Ago, number, plural } from "../../parts/figures.tsx";
import { filterWords, StateChip, stoppedWords } from "../../parts/subscription-words.tsx";
import { clip, text } from "../../parts/text.tsx";
import { overlapIn, Pause, Remove, Rotate } from "../../parts/webhook-forms.tsx";

const path = { tenant: serverParameters.tenant, id: z.string() };
type Asked = Call<typeof path, Record<never, never>> & { form: URLSearchParams };

const one = page({
  id: "manage-subscription",
  path: "/manage/{tenant}/subscriptions/{id}",
  parameters: { path },
  signedIn: true,
  get: (_, call) => subscriptionPage({ ...call, form: new URLSearchParams() }),

  async post(services, call) {
    const {
      path: { tenant, id },
      api,
      form,
    } = call;
    const address = at`/api/subscriptions/${tenant}/${id}`;
    const key = keyOf(form);
    switch (form.get("do")) {
      case "pause":
      case "resume": {
        const enabled = form.get("do") === "resume";
        const changed = await api<Subscription>(address, { method: "PATCH", body: { enabled } });
        const said = enabled ? "The subscription is on again." : "The subscription is paused.";
        return changed.ok ? done(services, call, { text: said }) : refusedBy(call, changed.error);
      }
      case "test": {
        const tested = await api<z.infer<typeof TestDelivery>>(`${address}/test`, { method: "POST", key });
        return tested.ok ? done(services, call, { text: testWords(tested.value.data) }) : refusedBy(call, tested.error);
      }
      case "rotate": {
        const options = { method: "POST", body: { overlapSeconds: overlapIn(form) }, key } as const;
        const rotated = await api<RotatedSubscription>(`${address}/rotate`, options);
        if (!rotated.ok) return refusedBy(call, rotated.error);
        return done(services, call, { text: "The subscription has a new secret.", secret: rotated.value.data.secret });
      }
      case "delete": {
        const removed = await api<unknown>(address, { method: "DELETE" });
        // Not found: the second of two clicks.
        if (!removed.ok && removed.error.code !== "ErrorSubscriptionNotFound") return refusedBy(call, removed.error);
        return done(services, call, { text: "The subscription is deleted." }, manageHref(tenant, "subscriptions"));
      }
      default:
        throw requestError("ErrorBadRequest", "The form does not say what to do", { hint: "Open the page again" });
    }
  },
});

function testWords({ delivered, status, failure }: z.infer<typeof TestDelivery>): string {
  if (delivered) return `The test message arrived: ${status}.`;
  return status === undefined ? `The test message did not arrive: ${failure}.` : `The receiver answered ${status}.`;
}

function done(services: ConsoleDeps, { c, viewer, path: { tenant, id } }: Asked, notice: Notice, to?: string) {
  return redirectWith({ c, services, viewer }, to ?? at`/manage/${tenant}/subscriptions/${id}`, notice);
}

function refusedBy(call: Asked, error: Failure): Promise<PageAnswer> {
  throwIfLost(error);
  if (error.code === "ErrorSubscriptionNotFound") throw new RequestFailed(error);
  return subscriptionPage(call, error);
}

async function subscriptionPage(call: Asked, refused?: Failure): Promise<PageAnswer> {
  const {
    viewer,
    path: { tenant, id },
    now,
    api,
    notice,
  } = call;
  const address = at`/api/subscriptions/${tenant}/${id}`;
  const { data } = unwrap(await api<SubscriptionWithAttempts>(address));
  const placed = { viewer, action: at`/manage/${tenant}/subscriptions/${id}` };
  const isOn = data.state === "active";
  return {
    title: `Subscription of ${tenant}`,
    nav: "manage",
    status: refused === undefined ? 200 : statusOf(refused.code),
    same: { json: address, cli: `subscriptions show ${tenant}/${id}` },
    source: "object",
    main: (
      <ManageFrame
        tenant={tenant}
        tab="subscriptions"
        crumbs={<a href={manageHref(tenant, "subscriptions")}>Subscriptions</a>}
        heading={text(clip(new URL(data.url).host, 80))}
      >
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        {data.reason !== undefined && <p class="warn spaced">{stoppedWords[data.reason]}</p>}
        <div class="manage">
          <div>
            <section class="block" aria-labelledby="about-title">
              <h2 id="about-title">About</h2>
              <About of={data} now={now} />
              <div class="inline">
                <Form {...placed} class="inline">
                  <input type="hidden" name="do" value="test" />
                  <Button label="Send a test message" />
                </Form>
                <Pause {...placed} isOn={isOn} />
              </div>
            </section>
            <section class="block" aria-labelledby="secret-title">
              <h2 id="secret-title">Secret</h2>
              <Rotate
                {...placed}
                hours={call.form.get("hours") ?? "24"}
                what="Messages are signed with both until then. At most 168 hours; 0 ends the earlier one at once."
              />
            </section>
            <Remove
              {...placed}
              what="subscription"
              lost={`${plural(data.pending, "message")} that wait for it are dropped.`}
            />
          </div>
          <section class="block" aria-labelledby="attempts-title">
            <h2 id="attempts-title">Attempts</h2>
            <Attempts of={data.attempts} now={now} />
          </section>
        </div>
      </ManageFrame>
    ),
  };
}

function About({ of, now }: { of: SubscriptionWithAttempts; now: number }) {
  const { url, filters, description, since, pending, dropped, createdAt, createdBy } = of;
  return (
    <dl class="rows">
      <dt>State</dt>
      <dd>
        <StateChip of={of} /> since <Ago at={since} now={now} />
      </dd>
      <dt>Address</dt>
      <dd>
        <code>{text(clip(url, 300))}</code>
      </dd>
      <dt>Gets</dt>
      <dd>{text(clip(filterWords(filters), 400))}</dd>
      <dt>Waiting</dt>
      <dd>
        {plural(pending, "message")}
        {dropped > 0 && `, ${number(dropped)} dropped`}
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

function Attempts({ of, now }: { of: SubscriptionWithAttempts["attempts"]; now: number }) {
  if (of.length === 0) return <p>Nothing was sent yet. A test message shows whether the receiver takes it.</p>;
  return (
    <ul class="ledger">
      {of.map(({ message, at: when, attempt, status, failure, nextAt }) => (
        <li>
          <p class="sub">
            {status === undefined ? (
              <span class="chip high">– no answer</span>
            ) : (
              <span class={`chip ${status < 300 ? "ok" : "high"}`}>{status}</span>
            )}
            <Ago at={when} now={now} />
            <span>attempt {attempt}</span>
            {nextAt !== undefined && <span>next at {nextAt.slice(11, 19)} UTC</span>}
          </p>
          <p class="small mute wrap">{text(clip(message, 120))}</p>
          {failure !== undefined && <p class="small error">{text(clip(failure, 300))}</p>}
        </li>
      ))}
    </ul>
  );
}

export const subscriptionPages = [one];
