import type { z } from "zod";
import type { HookEventType, HookFormat, HookList, HookRequest, RegisteredHook } from "../../../hooks/schema.ts";
import { unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { type Failure, statusOf } from "../../../kernel/failure.ts";
import type { ServerPage } from "../../../registry/server-schema.ts";
import { at } from "../../api.ts";
import { Box, Button, Field, Form, keyOf, Refused } from "../../forms/form.tsx";
import { throwIfLost } from "../../forms/lost.ts";
import { redirectWith } from "../../forms/notice.ts";
import { Said } from "../../forms/said.tsx";
import { ManageFrame, manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type PageAnswer, page } from "../../page.ts";
import { Ago } from "../../parts/figures.tsx";
import { clip, text } from "../../parts/text.tsx";

const path = { tenant: serverParameters.tenant };
type Asked = Call<typeof path, Record<never, never>>;

/** What the form has in it, as typed. */
interface Typed {
  server: string;
  events: string[];
  format: string;
  publicKey: string;
  description: string;
}

const events: Record<HookEventType, string> = {
  "manifest.published": "publishes a manifest",
  "manifest.changed": "says that the sources should be read",
  "server.status": "changes the status",
  "server.removed": "withdraws the server",
};
const formats: Record<HookFormat, string> = {
  standard: "Standard Webhooks",
  github: "GitHub: any event reads the sources again",
};

const list = page({
  id: "manage-hooks",
  path: "/manage/{tenant}/hooks",
  parameters: { path },
  signedIn: true,
  get: (_, call) => hooksPage(call),

  async post(services, call) {
    const {
      c,
      viewer,
      path: { tenant },
      api,
      form,
    } = call;
    const typed = typedIn(form);
    const body = { tenant, ...requestOf(typed) };
    const made = await api<RegisteredHook>("/api/hooks", { method: "POST", body, key: keyOf(form) });
    if (!made.ok) {
      throwIfLost(made.error);
      return hooksPage(call, typed, made.error);
    }
    const { id, secret, server } = made.value.data;
    const said = `The hook for ${server} is made.`;
    return redirectWith({ c, services, viewer }, at`/manage/${tenant}/hooks/${id}`, { text: said, secret });
  },
});

function typedIn(form: URLSearchParams): Typed {
  const field = (name: string) => (form.get(name) ?? "").trim();
  return {
    ...{ server: field("server"), events: form.getAll("event"), format: field("format") },
    ...{ publicKey: field("publicKey"), description: field("description") },
  };
}

/** As the API takes it: what is left empty is left out. */
function requestOf({
  server,
  events: chosen,
  format,
  publicKey,
  description,
}: Typed): Partial<z.input<typeof HookRequest>> {
  return {
    server,
    events: chosen as HookEventType[],
    format: format as HookFormat,
    publicKey: publicKey || undefined,
    description: description || undefined,
  };
}

async function hooksPage(call: Asked, typed?: Typed, refused?: Failure): Promise<PageAnswer> {
  const {
    viewer,
    path: { tenant },
    now,
    api,
    notice,
  } = call;
  const { data, generation } = unwrap(await api<HookList>("/api/hooks", { query: { tenant } }));
  const servers = unwrap(
    await api<z.infer<typeof ServerPage>>("/api/mcp/configs", { query: { tenant, limit: "100" } }),
  );
  const here = manageHref(tenant, "hooks");
  const filled = typed ?? {
    ...{ server: "", events: Object.keys(events), format: "standard", publicKey: "", description: "" },
  };
  return {
    title: `Hooks of ${tenant}`,
    nav: "manage",
    status: refused === undefined ? 200 : statusOf(refused.code),
    same: { json: `/api/hooks?tenant=${tenant}`, cli: `hooks list ${tenant}` },
    generation,
    source: "object",
    main: (
      <ManageFrame tenant={tenant} tab="hooks">
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        <p>
          A hook is an address where the publisher of a server tells the registry of changes, with a secret of its own.
        </p>
        {data.items.length > 0 && (
          <ul class="ledger spaced">
            {data.items.map(({ id, server, enabled, description, format, createdAt, createdBy }) => (
              <li>
                <div class="row">
                  <div>
                    <a class="name" href={at`/manage/${tenant}/hooks/${id}`}>
                      {server}
                    </a>{" "}
                    {description !== undefined && <span class="small soft">{text(clip(description, 120))}</span>}
                    <p class="small mute">
                      {formats[format]} · by {text(clip(createdBy, 80))}
                    </p>
                  </div>
                  <p>{enabled ? <span class="chip ok">● on</span> : <span class="chip stale">◌ paused</span>}</p>
                  <p class="when">
                    <Ago at={createdAt} now={now} />
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
        <section class="block settings spaced" aria-labelledby="new-title">
          <h2 id="new-title">{data.items.length === 0 ? "Make the first hook" : "Make a hook"}</h2>
          {servers.data.items.length === 0 ? (
            <p>
              A hook belongs to a server, and there is none yet:{" "}
              <code>rollcall publish {tenant}/NAME manifest.json</code>
            </p>
          ) : (
            <Form viewer={viewer} action={here}>
              <div class="field">
                <label for="server">Server</label>
                <input
                  id="server"
                  name="server"
                  list="servers"
                  value={filled.server}
                  required
                  maxlength={128}
                  autocomplete="off"
                />
                <datalist id="servers">
                  {servers.data.items.map(({ name }) => (
                    <option value={name} />
                  ))}
                </datalist>
              </div>
              <fieldset>
                <legend>What it may say</legend>
                {Object.entries(events).map(([name, does]) => (
                  <Box
                    name="event"
                    value={name}
                    label={
                      <>
                        <code>{name}</code> {does}
                      </>
                    }
                    checked={filled.events.includes(name)}
                  />
                ))}
              </fieldset>
              <fieldset>
                <legend>Format</legend>
                {Object.entries(formats).map(([name, label]) => (
                  <Box type="radio" name="format" value={name} label={label} checked={filled.format === name} />
                ))}
              </fieldset>
              <Field
                name="publicKey"
                label="Public key"
                value={filled.publicKey}
                max={128}
                placeholder="whpk_…"
                help="Ed25519, if the publisher signs with its own key. Left empty, a secret is made and shown once."
              />
              <Field name="description" label="Description" value={filled.description} max={1_024} />
              <p>
                <Button label="Make the hook" as="primary" />
              </p>
            </Form>
          )}
        </section>
      </ManageFrame>
    ),
  };
}

export const hooksPages = [list];
