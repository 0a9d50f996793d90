import type { Child } from "hono/jsx";
import { z } from "zod";
import type { AcknowledgedContent, FlagPage } from "../../../flags/schema.ts";
import { RequestFailed, unwrap } from "../../../http/context.ts";
import { server as serverParameters } from "../../../http/parameters.ts";
import { type Failure, statusOf } from "../../../kernel/failure.ts";
import { at } from "../../api.ts";
import { Form, Refused } from "../../forms/form.tsx";
import { redirectWith } from "../../forms/notice.ts";
import { Said } from "../../forms/said.tsx";
import { ManageFrame, manageHref } from "../../layout/manage-frame.tsx";
import { type Call, type PageAnswer, page } from "../../page.ts";
import { Ago } from "../../parts/figures.tsx";
import { capabilityHref } from "../../parts/item.tsx";
import { serverHref } from "../../parts/server-row.tsx";
import { clip, text } from "../../parts/text.tsx";

const path = { tenant: serverParameters.tenant };
const query = { cursor: z.string().optional() };
type Flagged = z.infer<typeof FlagPage>["items"][number];
type OneFlag = Flagged["flags"][number];

const flags = page({
  id: "manage-flags",
  path: "/manage/{tenant}/flags",
  parameters: { path, query },
  signedIn: true,
  get: (_, call) => flagsPage(call),

  async post(services, call) {
    const { c, viewer, path: place, api, form } = call;
    const field = (name: string) => form.get(name) ?? "";
    const acknowledged = field("acknowledged") === "true";
    const done = await api<AcknowledgedContent>(at`/api/flags/${field("digest")}/acknowledge`, {
      method: "POST",
      body: { tenant: place.tenant, server: field("server"), rule: field("rule"), path: field("path"), acknowledged },
    });
    if (done.ok) {
      const said = acknowledged
        ? `Accepted: ${field("rule")} no longer keeps this content of ${field("server")} out of choices.`
        : `Taken back: ${field("rule")} counts again.`;
      return redirectWith({ c, services, viewer }, manageHref(place.tenant, "flags"), { text: said });
    }
    const isTenant =
      done.error.code === "ErrorTenantPermissionError" && !viewer.principal.tenants.includes(place.tenant);
    if (isTenant || done.error.code === "ErrorInsufficientScope") throw new RequestFailed(done.error);
    return flagsPage(call, done.error);
  },
});

async function flagsPage(call: Call<typeof path, typeof query>, refused?: Failure): Promise<PageAnswer> {
  const {
    viewer,
    path: { tenant },
    query: { cursor },
    now,
    api,
    notice,
  } = call;
  const list = { tenant, limit: "30", cursor };
  const { data, generation } = unwrap(await api<z.infer<typeof FlagPage>>("/api/flags", { query: list }));
  const here = manageHref(tenant, "flags");
  const { admin } = viewer.principal;
  return {
    title: `Flags of ${tenant}`,
    nav: "manage",
    status: refused === undefined ? 200 : statusOf(refused.code),
    same: { json: `/api/flags?tenant=${tenant}`, cli: `flags ${tenant}` },
    generation,
    source: "object",
    main: (
      <ManageFrame tenant={tenant} tab="flags">
        <Said notice={notice} />
        {refused !== undefined && <Refused why={refused} />}
        <p>
          Text that a reader should look at before trusting it. A high flag keeps an item out of what is chosen for
          agents until an admin has read and accepted it. {!admin && "Your sign-in is no admin's: it can look."}
        </p>
        {data.items.length === 0 ? (
          <p class="spaced">{cursor === undefined ? "Nothing is flagged." : "There are no more."}</p>
        ) : (
          <ul class="ledger spaced">
            {data.items.map((content) => (
              <li>
                <p class="sub">
                  <Place of={content} tenant={tenant} />
                  <span>{content.kind}</span>
                  {content.leftOut && <span class="chip high">⚑ left out of choices</span>}
                </p>
                <ul class="flags">
                  {content.flags.map((flag) => (
                    <FlagRow flag={flag} now={now}>
                      {admin && (
                        <Form viewer={viewer} action={here} class="inline">
                          {Object.entries({
                            digest: content.digest,
                            server: content.server,
                            rule: flag.rule,
                            path: flag.path,
                            acknowledged: String(flag.acknowledged === undefined),
                          }).map(([name, value]) => (
                            <input type="hidden" name={name} value={value} />
                          ))}
                          <button type="submit">
                            {flag.acknowledged === undefined ? "Accept" : "Take back"}
                            <span class="vh">
                              {" "}
                              {flag.rule} of {content.name}
                            </span>
                          </button>
                        </Form>
                      )}
                    </FlagRow>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        )}
        <p class="pager">
          {cursor === undefined ? <span /> : <a href={here}>The first page</a>}
          {data.nextCursor === undefined ? (
            <span />
          ) : (
            <a href={`${here}?cursor=${encodeURIComponent(data.nextCursor)}`}>Next</a>
          )}
        </p>
      </ManageFrame>
    ),
  };
}

function Place({ of: { server, kind, name, id }, tenant }: { of: Flagged; tenant: string }) {
  const href =
    kind === "config"
      ? at`/manage/${tenant}/servers/${server}`
      : id === undefined
        ? serverHref({ tenant, name: server })
        : capabilityHref(tenant, id);
  return (
    <a href={href}>
      <code>
        {server}
        {kind === "server" || kind === "config" ? "" : <> / {text(clip(name, 120))}</>}
      </code>
    </a>
  );
}

function FlagRow({ flag, now, children }: { flag: OneFlag; now: number; children?: Child }) {
  const { severity, rule, path: place, message, acknowledged } = flag;
  return (
    <li class={acknowledged === undefined ? severity : "accepted"}>
      <strong>
        {severity === "high" ? "⚑" : "⚐"} {severity} {rule}
      </strong>{" "}
      {place !== "" && <code>{text(clip(place, 200))}</code>}
      <br />
      {text(clip(message, 600))}
      {acknowledged !== undefined && (
        <span class="mute">
          {" "}
          Accepted by {text(clip(acknowledged.by, 80))} <Ago at={acknowledged.at} now={now} />.
        </span>
      )}
      {children}
    </li>
  );
}

export const flagPages = [flags];
