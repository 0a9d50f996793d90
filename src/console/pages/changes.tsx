import { z } from "zod";
import { type NewestChanges, readNewest } from "../../changes/newest.ts";
import { openLogStream } from "../../changes/open-log-stream.ts";
import { checkPosition } from "../../changes/read.ts";
import { unwrap } from "../../http/context.ts";
import { streamMeta } from "../../http/event-stream.ts";
import { list, server as serverParameters, whole } from "../../http/parameters.ts";
import { type ChainedChange, ChangeKind } from "../../registry/change-chain.ts";
import { tabOf } from "../layout/server-frame.tsx";
import { page } from "../page.ts";
import { ClassChip, changeClasses } from "../parts/change-class.tsx";
import { Chips } from "../parts/chips.tsx";
import { Ago, number, plural, shortDigest } from "../parts/figures.tsx";
import { itemAnchor } from "../parts/item.tsx";
import { type Kind, kindWords, serverHref } from "../parts/server-row.tsx";
import { clip, text } from "../parts/text.tsx";
import { redirect } from "../respond.tsx";
import { requireOwnPage } from "../sign-in/same-origin.ts";

const perPage = 100;

/** An empty field of a form is as good as none. */
function choice<Value extends string>(values: readonly Value[]) {
  return z.enum(["", ...values]).optional();
}

const filters = {
  class: list(choice(changeClasses)).optional(),
  kind: choice(ChangeKind.options),
  server: z.string().max(128).optional(),
  before: whole(1, 1e15).optional(),
};

interface Filter {
  classes: readonly string[];
  kind: string;
  server: string;
}

const noFilter: Filter = { classes: [], kind: "", server: "" };

const feed = page({
  id: "changes",
  path: "/changes/{tenant}",
  parameters: { path: { tenant: serverParameters.tenant }, query: filters },
  signedIn: true,

  async get(services, { viewer, path: { tenant }, query, now }) {
    const classes = (query.class ?? []).filter((name): name is Exclude<typeof name, undefined | ""> => Boolean(name));
    const filter: Filter = { classes, kind: query.kind ?? "", server: (query.server ?? "").trim() };
    const { before } = query;
    const found = unwrap(
      await readNewest(services, viewer.principal, tenant, { before, limit: perPage, matches: matcher(filter) }),
    );
    const shown = () => <Feed tenant={tenant} found={found} filter={filter} before={before} now={now} />;
    const since = Math.max(0, found.from - 1);
    return {
      title: `Changes of ${tenant}`,
      nav: "changes",
      same: { json: `/api/changes/${encodeURIComponent(tenant)}?since=${since}`, cli: `watch ${tenant}` },
      generation: found.generation,
      source: "object",
      fragments: { feed: shown },
      main: (
        <>
          <h1>Changes of {tenant}</h1>
          <p class="soft">Every accepted write, the newest first. Only members of {tenant} see this log.</p>
          <Filters tenant={tenant} filter={filter} found={found} />
          {before === undefined && <Follow tenant={tenant} filter={filter} head={found.head.sequence} />}
          <section aria-label="Changes" id="feed">
            {shown()}
          </section>
        </>
      ),
    };
  },
});

function matcher({ classes, kind, server }: Filter): ((change: ChainedChange) => boolean) | undefined {
  if (classes.length === 0 && kind === "" && server === "") return undefined;
  return (change) =>
    (classes.length === 0 || classes.includes(change.classification)) &&
    (kind === "" || change.kind === kind) &&
    (server === "" || change.server === server);
}

function hrefOf(tenant: string, { classes, kind, server }: Filter, before?: number): string {
  const query = new URLSearchParams(classes.map((name) => ["class", name]));
  if (kind !== "") query.set("kind", kind);
  if (server !== "") query.set("server", server);
  if (before !== undefined) query.set("before", String(before));
  return `/changes/${encodeURIComponent(tenant)}${query.size === 0 ? "" : `?${query}`}`;
}

function Filters({ tenant, filter, found }: { tenant: string; filter: Filter; found: NewestChanges }) {
  const servers = [...new Set(found.items.map(({ server }) => server))].sort();
  return (
    <search>
      <form class="filters" action={hrefOf(tenant, noFilter)} data-live="feed">
        <fieldset>
          <legend>Class</legend>
          <div class="inline">
            {changeClasses.map((name) => (
              <label class="check">
                <input type="checkbox" name="class" value={name} checked={filter.classes.includes(name)} />
                <ClassChip of={name} />
              </label>
            ))}
          </div>
        </fieldset>
        <div class="field">
          <label for="kind">Kind</label>
          <select id="kind" name="kind">
            <option value="">every kind</option>
            {ChangeKind.options.map((kind) => (
              <option value={kind} selected={kind === filter.kind}>
                {kind === "server" ? "server settings" : kindWords[kind][1]}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="server">Server</label>
          <input id="server" name="server" value={filter.server} list="servers" placeholder="any" autocomplete="off" />
          <datalist id="servers">
            {servers.map((name) => (
              <option value={name} />
            ))}
          </datalist>
        </div>
        <button type="submit">Show</button>
      </form>
    </search>
  );
}

/** Filled by the script, which follows the log from the newest entry of the page on. */
function Follow({ tenant, filter, head }: { tenant: string; filter: Filter; head: number }) {
  const path = `/console/api/changes/${encodeURIComponent(tenant)}`;
  return (
    <>
      <p class="follow js-only" data-follow={path} data-since={String(head)}>
        <span class="dot" aria-hidden="true" />
        <span data-follow-state role="status">
          Connecting …
        </span>
        <button type="button" data-follow-pause>
          Pause
        </button>
      </p>
      <noscript>
        <p class="small mute">
          These are the newest {perPage}. <a href={hrefOf(tenant, filter)}>Load the page again</a> to see what came
          since.
        </p>
      </noscript>
    </>
  );
}

interface Shown {
  tenant: string;
  found: NewestChanges;
  filter: Filter;
  before: number | undefined;
  now: number;
}

function Feed({ tenant, found, filter, before, now }: Shown) {
  const { items, head, from, more } = found;
  const isFiltered = matcher(filter) !== undefined;
  const last = before === undefined ? head.sequence : Math.min(before - 1, head.sequence);
  return (
    <>
      <p class="said" data-said>
        {plural(items.length, "entry", "entries")}
        {isFiltered && ` of those from ${number(from)} to ${number(last)}`}; the log ends at {number(head.sequence)},{" "}
        <code title={head.hash}>{shortDigest(head.hash)}</code>
      </p>
      {items.length === 0 ? (
        <Empty tenant={tenant} isFiltered={isFiltered} isNew={head.sequence === 0} />
      ) : (
        <ol class="ledger feed">
          {items.map((change) => (
            <Entry tenant={tenant} change={change} now={now} />
          ))}
        </ol>
      )}
      <p class="pager">
        {before === undefined ? <span /> : <a href={hrefOf(tenant, filter)}>Newest</a>}
        {more && (
          <a rel="next" href={hrefOf(tenant, filter, from)}>
            {isFiltered ? "Look further back" : `Older ${perPage}`}
          </a>
        )}
      </p>
    </>
  );
}

function Empty({ tenant, isFiltered, isNew }: { tenant: string; isFiltered: boolean; isNew: boolean }) {
  if (isFiltered && !isNew)
    return (
      <p>
        None of these entries is what the filter wants. <a href={hrefOf(tenant, noFilter)}>Show every change</a>
      </p>
    );
  if (!isNew) return <p>There are no older entries: the log keeps the newest 100,000.</p>;
  return (
    <p>
      Nothing has changed yet. Publish once: <code>rollcall publish {tenant}/NAME FILE</code>
    </p>
  );
}

const shownReasons = 3;

function Entry({ tenant, change, now }: { tenant: string; change: ChainedChange; now: number }) {
  const { sequence, generation, at, server, kind, name, classification, reasons, registry } = change;
  const href = serverHref({ tenant, name: server });
  const isGone = classification === "removed";
  const anchor = `#${encodeURIComponent(itemAnchor(name))}`;
  return (
    <li data-sequence={String(sequence)}>
      <p class="when">
        <Ago at={at} now={now} />
      </p>
      <p class="class">
        <ClassChip of={classification} />
      </p>
      <div>
        <p class="what">
          <a class="name" href={href}>
            {server}
          </a>
          {kind === "server" ? (
            <span class="mute">server settings</span>
          ) : (
            <>
              <span class="mute">{kindWords[kind as Kind][0]}</span>
              {isGone ? (
                <code>{text(clip(name, 120))}</code>
              ) : (
                <a href={`${href}/${tabOf(kind as Kind)}${anchor}`}>
                  <code>{text(clip(name, 120))}</code>
                </a>
              )}
            </>
          )}
        </p>
        {reasons.slice(0, shownReasons).map(({ path, message }) => (
          <p class="line">
            {path !== "" && <code>{text(clip(path, 120))}</code>} {text(message)}
          </p>
        ))}
        {reasons.length > shownReasons && (
          <p class="small mute">and {plural(reasons.length - shownReasons, "more reason")}</p>
        )}
        {registry !== undefined && <Chips of={registry} />}
      </div>
      <p class="place num mute" title={`Entry ${sequence}, generation ${generation}`}>
        {number(sequence)}
      </p>
    </li>
  );
}

/** The log as it grows, for the page above: the cookie says who asks, so it is for our own pages only. */
const stream = page({
  id: "changes-stream",
  path: "/console/api/changes/{tenant}",
  parameters: { path: { tenant: serverParameters.tenant }, query: { since: whole(0, 1e15).default(0) } },

  async get(services, { c, viewer: { principal }, path: { tenant }, query: { since }, origin }) {
    requireOwnPage(c, origin);
    const last = c.req.header("Last-Event-ID") ?? "";
    const start = /^\d{1,15}$/.test(last) ? Number(last) : since;
    unwrap(await checkPosition(services, principal, tenant, start));
    const { type, headers } = streamMeta();
    const meta = { headers: { "Content-Type": type, ...headers } };
    // HEAD must not open a stream that no one reads.
    if (c.req.method === "HEAD") return new Response(null, meta);
    const { signal } = c.req.raw;
    const readable = unwrap(await openLogStream(services, principal, { tenant, since: start, signal }));
    return new Response(readable, meta);
  },
});

/** Which tenant's, for somebody who has several. */
const choose = page({
  id: "changes-of",
  path: "/changes",
  parameters: { query: { tenant: z.string().max(100).optional() } },
  signedIn: true,

  get(_, { viewer: { principal }, query: { tenant = "" } }) {
    const [only, ...others] = principal.tenants;
    const wanted = tenant.trim() === "" && others.length === 0 && !principal.admin ? only : tenant.trim();
    if (wanted !== undefined && wanted !== "") return redirect(`/changes/${encodeURIComponent(wanted)}`);
    return {
      title: "Changes",
      nav: "changes",
      main: (
        <article class="prose">
          <h1>Changes</h1>
          <p>Each tenant has a log of its own.</p>
          <ul class="plain-list">
            {principal.tenants.map((name) => (
              <li>
                <a href={`/changes/${encodeURIComponent(name)}`}>
                  <code>{name}</code>
                </a>
              </li>
            ))}
          </ul>
          {principal.tenants.length === 0 && !principal.admin && (
            <p>Your token names no tenant. Sign in with one that does.</p>
          )}
          {principal.admin && (
            <form action="/changes" class="inline">
              <label for="tenant">Tenant</label>
              <input id="tenant" name="tenant" required maxlength={100} autocomplete="off" />
              <button type="submit">Show</button>
            </form>
          )}
        </article>
      ),
    };
  },
});

export const changesPages = [choose, feed, stream];
