import { unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { type Failure, statusOf } from "../../../kernel/failure.ts";
import type { ChangeFilters, CreatedSubscription, SubscriptionList } from "../../../subscriptions/schema.ts";
import { at } from "../../api.ts";
import { Box, Button, Field, Form, keyOf, Refused } from "../../forms/form.tsx";
import { throwIfLost } from "../../forms/lost.ts";
import { redirectWith } from "../../forms/notice.ts";
import { Said } from "../../forms/said.tsx";
import { ManageFrame, manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type PageAnswer, page } from "../../page.ts";
import { Ago, plural } from "../../parts/figures.tsx";
import { filterWords, StateChip } from "../../parts/subscription-words.tsx";
import { clip, text } from "../../parts/text.tsx";

const path = { tenant: serverParameters.tenant };
const classes = ["breaking", "additive", "cosmetic", "removed", "advisory"] as const;

/** What the form has in it, as typed. */
interface Typed {
  url: string;
  servers: string;
  classes: string[];
  description: string;
}

const list = page({
  id: "manage-subscriptions",
  path: "/manage/{tenant}/subscriptions",
  parameters: { path },
  signedIn: true,
  get: (_, call) => listPage(call),

  async post(services, call) {
    const {
      c,
      viewer,
      path: { tenant },
      api,
      form,
    } = call;
    const field = (name: string) => (form.get(name) ?? "").trim();
    const typed: Typed = {
      ...{ url: field("url"), servers: field("servers") },
      ...{ classes: form.getAll("class"), description: field("description") },
    };
    const body = { tenant, url: typed.url, filters: filtersOf(typed), description: typed.description || undefined };
    const made = await api<CreatedSubscription>("/api/subscriptions", { method: "POST", body, key: keyOf(form) });
    if (!made.ok) {
      throwIfLost(made.error);
      return listPage(call, typed, made.error);
    }
    const { id, secret } = made.value.data;
    const to = at`/manage/${tenant}/subscriptions/${id}`;
    return redirectWith({ c, services, viewer }, to, { text: "Subscribed.", secret });
  },
});

/** All classes are the same as no filter, also for classes that come later. */
function filtersOf({ servers, classes: chosen }: Typed): ChangeFilters {
  const names = servers.split(/[\s,]+/).filter((name) => name !== "");
  const isEvery = classes.every((name) => chosen.includes(name));
  return {
    servers: names.length === 0 ? undefined : names,
    classifications: isEvery ? undefined : (chosen as (typeof classes)[number][]),
  };
}

async function listPage(
  call: Call<typeof path, Record<never, never>>,
  typed: Typed = { url: "", servers: "", classes: [...classes], description: "" },
  refused?: Failure,
): Promise<PageAnswer> {
  const {
    viewer,
    path: { tenant },
    now,
    api,
    notice,
  } = call;
  const { data, generation } = unwrap(await api<SubscriptionList>("/api/subscriptions", { query: { tenant } }));
  const here = manageHref(tenant, "subscriptions");
  return {
    title: `Subscriptions of ${tenant}`,
    nav: "manage",
    status: refused === undefined ? 200 : statusOf(refused.code),
    same: { json: `/api/subscriptions?tenant=${tenant}`, cli: `subscriptions list ${tenant}` },
    generation,
    source: "object",
    main: (
      <ManageFrame tenant={tenant} tab="subscriptions">
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        <p>A subscription sends one signed message for each generation that has changes of its kind.</p>
        {data.items.length > 0 && (
          <ul class="ledger spaced">
            {data.items.map((one) => (
              <li>
                <div class="row">
                  <div>
                    <a class="name" href={at`/manage/${tenant}/subscriptions/${one.id}`}>
                      {text(clip(one.url, 120))}
                    </a>
                    <p class="small mute">
                      {text(clip(filterWords(one.filters), 200))}
                      {one.description !== undefined && <> · {text(clip(one.description, 120))}</>}
                    </p>
                  </div>
                  <p>
                    <StateChip of={one} />
                    {one.pending > 0 && <span class="small mute"> {plural(one.pending, "message")} waiting</span>}
                  </p>
                  <p class="when">
                    <Ago at={one.createdAt} now={now} />
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
        <section class="block settings spaced" aria-labelledby="new-title">
          <h2 id="new-title">{data.items.length === 0 ? "Make the first subscription" : "Subscribe"}</h2>
          <Form viewer={viewer} action={here}>
            <Field
              name="url"
              label="Address"
              value={typed.url}
              type="url"
              required
              placeholder="https://ci.example.com/rollcall"
              help="An https address that takes POST."
            />
            <Field
              name="servers"
              label="Servers"
              value={typed.servers}
              help="Names, with spaces between them. Left empty: all."
            />
            <fieldset>
              <legend>Changes</legend>
              {classes.map((name) => (
                <Box name="class" value={name} label={name} checked={typed.classes.includes(name)} />
              ))}
            </fieldset>
            <Field name="description" label="Description" value={typed.description} max={1_024} />
            <p>
              <Button label="Subscribe" as="primary" />
            </p>
          </Form>
        </section>
      </ManageFrame>
    ),
  };
}

export const subscriptionsPages = [list];
