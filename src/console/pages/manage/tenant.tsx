import { z } from "zod";
import type { AdvertiseResult, ShownAdvertise } from "../../../capability-index/answer-schema.ts";
import { unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { type Failure, statusOf } from "../../../kernel/failure.ts";
import { TenantKey } from "../../../kernel/names.ts";
import type { ServerPage } from "../../../registry/server-schema.ts";
import { at } from "../../api.ts";
import { Button, Form, Refused, tagOf } from "../../forms/form.tsx";
import { throwIfLost } from "../../forms/lost.ts";
import { redirectWith } from "../../forms/notice.ts";
import { Said } from "../../forms/said.tsx";
import { Newer } from "../../forms/stale.tsx";
import { ManageFrame, manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type PageAnswer, page } from "../../page.ts";
import {
  AdvertiseBoxes,
  type Advertising,
  advertisingIn,
  advertisingOf,
  advertisingRows,
  shownAdvertising,
} from "../../parts/advertising.tsx";
import { Chips } from "../../parts/chips.tsx";
import { Ago, Bar, number } from "../../parts/figures.tsx";
import { clip, text } from "../../parts/text.tsx";
import { redirect } from "../../respond.tsx";

type Servers = z.infer<typeof ServerPage>;

const choose = page({
  id: "manage",
  path: "/manage",
  parameters: { query: { tenant: TenantKey.optional() } },
  signedIn: true,

  get(_, { viewer: { principal }, query: { tenant } }) {
    const [only, ...more] = principal.tenants;
    if (tenant !== undefined) return redirect(manageHref(tenant));
    if (!principal.admin && only !== undefined && more.length === 0) return redirect(manageHref(only));
    return {
      title: "Manage",
      nav: "manage",
      main: (
        <article class="prose">
          <h1>Manage</h1>
          {principal.tenants.length === 0 && !principal.admin && (
            <p>
              Your sign-in acts for no tenant, so there is nothing to manage. Sign in with a token that names one:{" "}
              <code>npm run token -- --tenant NAME</code>
            </p>
          )}
          <ul class="plain-list">
            {principal.tenants.map((name) => (
              <li>
                <a href={manageHref(name)}>
                  <code>{name}</code>
                </a>
              </li>
            ))}
          </ul>
          {principal.admin && (
            <form method="get" action="/manage" class="stack">
              <label for="tenant">As an admin you manage every tenant</label>
              <input id="tenant" name="tenant" required maxlength={100} autocomplete="off" placeholder="acme" />
              <Button label="Open" as="primary" />
            </form>
          )}
        </article>
      ),
    };
  },
});

const tenantPath = { tenant: serverParameters.tenant };
type Asked = Call<typeof tenantPath, { cursor: z.ZodOptional<z.ZodString> }>;

/** What a form of the page brought. */
interface Outcome {
  typed?: Advertising;
  refused?: Failure;
  isStale?: true;
}

const tenant = page({
  id: "manage-tenant",
  path: "/manage/{tenant}",
  parameters: { path: tenantPath, query: { cursor: z.string().optional() } },
  signedIn: true,
  get: (_, call) => tenantPage(call, {}),

  async post(services, call) {
    const { c, viewer, path, api, form } = call;
    const typed = advertisingIn(form);
    const address = at`/api/index/${path.tenant}/advertise`;
    const done = await api<z.infer<typeof AdvertiseResult>>(address, {
      ...{ method: "PUT", body: advertisingOf(typed), ifMatch: tagOf(form) },
    });
    if (done.ok) {
      const { changed } = done.value.data;
      const said = changed ? "The index settings are saved." : "The index settings were so already.";
      return redirectWith({ c, services, viewer }, manageHref(path.tenant), { text: said });
    }
    const { error } = done;
    throwIfLost(error);
    if (error.code !== "ErrorPreconditionFailed") return tenantPage(call, { typed, refused: error });
    const { data } = unwrap(await api<ShownAdvertise>(address));
    if (advertisingRows(data.settings, typed).length === 0)
      return redirectWith({ c, services, viewer }, manageHref(path.tenant), {
        text: "The index settings were so already.",
      });
    return tenantPage(call, { typed, isStale: true });
  },
});

async function tenantPage(call: Asked, { typed, refused, isStale }: Outcome): Promise<PageAnswer> {
  const { viewer, path, query, now, api, notice } = call;
  const list = { tenant: path.tenant, limit: "30", cursor: query.cursor };
  const { data, generation } = unwrap(await api<Servers>("/api/mcp/configs", { query: list }));
  const index = unwrap(await api<ShownAdvertise>(at`/api/index/${path.tenant}/advertise`));
  const shown = index.data.tenant;
  const mayPublish = viewer.principal.scopes.includes("registry:publish");
  const most = Math.max(1, ...data.items.map(({ tokens = 0 }) => tokens));
  return {
    title: `Manage ${shown}`,
    nav: "manage",
    status: refused === undefined ? (isStale ? 409 : 200) : statusOf(refused.code),
    same: { json: `/api/mcp/configs?tenant=${path.tenant}`, cli: `list ${shown}` },
    generation,
    source: "object",
    main: (
      <ManageFrame tenant={shown} tab="servers">
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        {data.items.length === 0 ? (
          <p>
            No servers yet. Publish the first one: <code>rollcall publish {shown}/NAME manifest.json</code>
          </p>
        ) : (
          <ul class="ledger">
            {data.items.map((server) => (
              <li>
                <div class="row">
                  <div>
                    <a class="name" href={at`/manage/${shown}/servers/${server.name}`}>
                      {server.name}
                    </a>{" "}
                    {server.title !== undefined && <span class="small soft">{text(clip(server.title, 80))}</span>}
                    <p class="small mute">
                      {server.visibility === "public" ? "public" : "members only"}
                      {server.version !== undefined && <> · {text(clip(server.version, 24))}</>}
                    </p>
                    <Chips of={server.registry} />
                  </div>
                  <div class="cost">
                    <span class="num">
                      <span>{number(server.tokens ?? 0)}</span>
                      <span class="mute">tokens</span>
                    </span>
                    <Bar of={server.tokens ?? 0} most={most} />
                  </div>
                  <p class="when">
                    <Ago at={server.updatedAt} now={now} />
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
        <p class="pager">
          {query.cursor === undefined ? <span /> : <a href={manageHref(shown)}>The first page</a>}
          {data.nextCursor === undefined ? (
            <span />
          ) : (
            <a href={`${manageHref(shown)}?cursor=${encodeURIComponent(data.nextCursor)}`}>Next</a>
          )}
        </p>
        <section class="block settings spaced" aria-labelledby="index-title">
          <h2 id="index-title">Index of the tenant</h2>
          <p>
            Which variants of the index over all its public servers are listed for everybody. A client may put each into
            its context.
          </p>
          {isStale && typed !== undefined && <Newer rows={advertisingRows(index.data.settings, typed)} />}
          {mayPublish ? (
            <Form viewer={viewer} action={manageHref(shown)} tag={index.etag}>
              <AdvertiseBoxes of={typed ?? shownAdvertising(index.data.settings)} />
              <p>
                <Button label={isStale ? "Save mine over it" : "Save"} as="primary" />
              </p>
            </Form>
          ) : (
            <p class="small mute">Your sign-in may read. A token with the scope registry:publish may change this.</p>
          )}
        </section>
      </ManageFrame>
    ),
  };
}

export const managePages = [choose, tenant];
