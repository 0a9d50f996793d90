import type { Child } from "hono/jsx";
import { z } from "zod";
import { requestError } from "../../http/context.ts";
import { server as serverParameters, whole } from "../../http/parameters.ts";
import { isObject } from "../../kernel/json.ts";
import { itemsOf, type SectionTab, ServerFrame, sectionTabs, tabOf } from "../layout/server-frame.tsx";
import { type PageAnswer, page } from "../page.ts";
import { Ago, Bar, number, plural, share, short } from "../parts/figures.tsx";
import { capabilityHref, Item, itemAnchor } from "../parts/item.tsx";
import { type Kind, kindWords, serverHref } from "../parts/server-row.tsx";
import { sourceWords } from "../parts/source-words.ts";
import { clip, text } from "../parts/text.tsx";
import { type ShownItem, type ShownServer, showServer } from "../server.ts";

function answerOf(server: ShownServer, title: string, main: Child): PageAnswer {
  const { tenant, name, head, holds } = server;
  return {
    title,
    nav: "servers",
    same: { json: `/api/catalog/${tenant}/${name}`, cli: `show ${tenant}/${name}` },
    generation: head.asOf,
    holds,
    main,
  };
}

const overview = page({
  id: "server",
  path: "/servers/{tenant}/{name}",
  parameters: { path: serverParameters },

  async get(services, { viewer, path, now }) {
    const server = await showServer(services, viewer.principal, path);
    return answerOf(
      server,
      `${server.tenant}/${server.name}`,
      <ServerFrame server={server} tab="overview" now={now}>
        <div class="aside">
          <div>{server.items.length === 0 ? <Nothing server={server} now={now} /> : <Costs server={server} />}</div>
          <aside class="block" aria-label="About this server">
            <Links server={server} />
            <Sources server={server} now={now} />
          </aside>
        </div>
      </ServerFrame>,
    );
  },
});

/** A server with 0 items: what is known of why. */
function Nothing({ server: { tenant, name, head }, now }: { server: ShownServer; now: number }) {
  const sources = head.sources ?? [];
  return (
    <section class="block">
      <h2>Nothing published yet</h2>
      {sources.length > 0 ? (
        <p>
          Its {sources.length === 1 ? "source was" : "sources were"}{" "}
          {head.lastSynced === undefined ? "never read" : "read"}
          {head.lastSynced !== undefined && (
            <>
              {" "}
              <Ago at={head.lastSynced} now={now} /> and offered nothing
            </>
          )}
          . A member can have it read now:{" "}
          <code>
            POST /api/mcp/capabilities/{tenant}/{name}/refresh
          </code>
        </p>
      ) : (
        <p>
          The server is registered, and has no tools, prompts or resources. Its owner publishes them with{" "}
          <code>
            rollcall publish {tenant}/{name} FILE
          </code>
          .
        </p>
      )}
    </section>
  );
}

const mostShown = 12;

function Costs({ server }: { server: ShownServer }) {
  const { items, tokens } = server;
  const byKind = [...Map.groupBy(items, ({ item }) => item.kind)].map(([kind, there]) => ({
    kind,
    count: there.length,
    tokens: there.reduce((sum, { item }) => sum + item.tokens, 0),
  }));
  const dearest = [...items].sort((a, b) => b.item.tokens - a.item.tokens);
  const most = dearest[0]?.item.tokens ?? 0;
  return (
    <>
      <section class="block" aria-labelledby="cost-title">
        <h2 id="cost-title">
          {number(tokens)} tokens <span class="soft">in all, {share(tokens)}</span>
        </h2>
        <div class="costs">
          {byKind.map(({ kind, count, tokens: cost }) => (
            <>
              <a href={`${serverHref(server)}/${tabOf(kind as Kind)}`}>{plural(count, kindWords[kind as Kind][0])}</a>
              <span class="num">{number(cost)}</span>
              <Bar of={cost} most={tokens} />
            </>
          ))}
        </div>
      </section>
      <section class="block" aria-labelledby="dearest-title">
        <h2 class="label" id="dearest-title">
          {items.length > mostShown ? `The ${mostShown} dearest of ${number(items.length)}` : "By cost"}
        </h2>
        <ul class="ledger">
          {dearest.slice(0, mostShown).map((shown) => (
            <ItemRow shown={shown} server={server} most={most} />
          ))}
        </ul>
      </section>
    </>
  );
}

function ItemRow({ shown: { item, record }, server, most }: { shown: ShownItem; server: ShownServer; most: number }) {
  const { description } = item.declared;
  const open = record.flags.filter(({ acknowledged }) => acknowledged === undefined);
  const isHigh = open.some(({ severity }) => severity === "high");
  return (
    <li>
      <div class="row">
        <div>
          <a class="name" href={capabilityHref(server.tenant, item.id)}>
            {text(clip(item.key, 120))}
          </a>
          {typeof description === "string" && <p class="line">{text(clip(description, 140))}</p>}
        </div>
        <div class="cost">
          <span class="num">
            <span>{number(item.tokens)}</span>
            <span class="mute">{kindWords[item.kind as Kind][0]}</span>
          </span>
          <Bar of={item.tokens} most={most} />
        </div>
        <p class="when">
          {open.length > 0 && <span class={`chip ${isHigh ? "high" : "low"}`}>{isHigh ? "⚑ high" : "⚐ low"}</span>}
        </p>
      </div>
    </li>
  );
}

/** The only links of a publisher that are links: https, with the host in sight. */
function Links({ server: { header } }: { server: ShownServer }) {
  const repository = isObject(header.repository) ? header.repository.url : undefined;
  const links = [
    ["Website", header.websiteUrl],
    ["Repository", repository],
  ] as const;
  const shown = links.flatMap(([label, value]) => {
    const url = typeof value === "string" ? URL.parse(value) : null;
    return url?.protocol === "https:" ? [{ label, url }] : [];
  });
  const licence = typeof header.license === "string" ? header.license : undefined;
  if (shown.length === 0 && licence === undefined) return null;
  return (
    <dl class="rows">
      {shown.map(({ label, url }) => (
        <>
          <dt>{label}</dt>
          <dd>
            <a href={url.href} rel="noopener nofollow ugc">
              {text(clip(`${url.host}${url.pathname === "/" ? "" : url.pathname}`, 80))}
            </a>
          </dd>
        </>
      ))}
      {licence !== undefined && (
        <>
          <dt>Licence</dt>
          <dd>{text(clip(licence, 80))}</dd>
        </>
      )}
    </dl>
  );
}

function Sources({ server: { head }, now }: { server: ShownServer; now: number }) {
  const { sources = [], warnings = [] } = head;
  if (sources.length === 0)
    return <p class="small mute">Its publisher pushes what it can do; nothing is read from a source.</p>;
  return (
    <section>
      <h2 class="label">Sources</h2>
      <ul class="plain-list small">
        {sources.map((source) => (
          <li>
            <code>{text(clip(source.id, 60))}</code> {sourceWords[source.status] ?? source.status}
            {source.error !== undefined && <span class="mute"> ({text(clip(String(source.error), 80))})</span>}
            {typeof source.lastSynced === "string" && (
              <span class="mute">
                , read <Ago at={source.lastSynced} now={now} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {warnings.map((warning) => (
        <p class="small warn">{text(clip(warning, 300))}</p>
      ))}
    </section>
  );
}

/** Items shown in full on one page: their index has all of them. */
const perPage = 40;
/** Of their index: a server may have ten thousand. */
const indexed = 1_000;

const section = page({
  id: "server-items",
  path: "/servers/{tenant}/{name}/{section}",
  parameters: {
    path: { ...serverParameters, section: z.string() },
    query: { sort: z.enum(["declared", "cost"]).default("declared"), from: whole(0, 1_000_000).default(0) },
  },

  async get(services, { viewer, path, query: { sort, from }, now }) {
    if (!Object.hasOwn(sectionTabs, path.section)) throw requestError("ErrorNotFound");
    const tab = path.section as SectionTab;
    const server = await showServer(services, viewer.principal, path);
    const declared = itemsOf(server, tab);
    const items = sort === "cost" ? [...declared].sort((a, b) => b.item.tokens - a.item.tokens) : declared;
    const { label } = sectionTabs[tab];
    const start = Math.floor(Math.min(from, Math.max(0, items.length - 1)) / perPage) * perPage;
    return answerOf(
      server,
      `${label} of ${server.tenant}/${server.name}`,
      <ServerFrame server={server} tab={tab} now={now}>
        {items.length === 0 ? (
          <p>
            This server declares no {label.toLowerCase()}. <a href={serverHref(server)}>What it has</a>
          </p>
        ) : (
          <Items server={server} tab={tab} items={items} sort={sort} start={start} />
        )}
      </ServerFrame>,
    );
  },
});

interface Listed {
  server: ShownServer;
  tab: SectionTab;
  items: ShownItem[];
  sort: "declared" | "cost";
  start: number;
}

function Items({ server, tab, items, sort, start }: Listed) {
  const { label } = sectionTabs[tab];
  const here = `${serverHref(server)}/${tab}`;
  const most = Math.max(...items.map(({ item }) => item.tokens));
  const tokens = items.reduce((sum, { item }) => sum + item.tokens, 0);
  const other = sort === "cost" ? "declared" : "cost";
  const query = (from: number) => {
    const search = new URLSearchParams();
    if (sort === "cost") search.set("sort", sort);
    if (from > 0) search.set("from", String(from));
    return search.size === 0 ? "" : `?${search}`;
  };
  const pageOf = (at: number) => Math.floor(at / perPage) * perPage;
  const shown = items.slice(start, start + perPage);
  const first = Math.floor(start / indexed) * indexed;
  return (
    <div class="split">
      <nav class="index" aria-label={label}>
        <p class="small">
          <strong>{number(tokens)} tokens</strong> <span class="mute">{share(tokens)}</span>
        </p>
        <p class="small">
          <a href={`${here}?sort=${other}`}>{other === "cost" ? "Dearest first" : "In the order declared"}</a>
        </p>
        {items.length > 8 && (
          <p class="js-only">
            <label class="vh" for="filter">
              Filter {label.toLowerCase()}
            </label>
            <input id="filter" type="search" placeholder="Filter" data-filter=".index li" />
          </p>
        )}
        <ol>
          {items.slice(first, first + indexed).map(({ item, record }, index) => {
            const at = first + index;
            const open = record.flags.filter(({ acknowledged }) => acknowledged === undefined);
            const isFlagged = open.length > 0;
            const glyph = open.some(({ severity }) => severity === "high") ? " ⚑" : " ⚐";
            const page = pageOf(at) === start ? "" : `${here}${query(pageOf(at))}`;
            return (
              <li class={isFlagged ? "flagged" : undefined}>
                <a href={`${page}#${encodeURIComponent(itemAnchor(item.key))}`} title={item.key}>
                  <code>{text(clip(item.key, 60))}</code>
                  <span class="num">
                    {short(item.tokens)}
                    {isFlagged && glyph}
                  </span>
                  <Bar of={item.tokens} most={most} />
                </a>
              </li>
            );
          })}
        </ol>
        {items.length > indexed && (
          <p class="small mute">
            {number(first + 1)} to {number(Math.min(items.length, first + indexed))} of {number(items.length)}; the
            pages on the right lead on.
          </p>
        )}
      </nav>
      <div class="items">
        {shown.map(({ item, record }) => (
          <Item item={item} record={record} tenant={server.tenant} whole={false} />
        ))}
        {items.length > perPage && (
          <p class="pager">
            {start > 0 ? <a href={`${here}${query(start - perPage)}`}>The {perPage} before</a> : <span />}
            <span class="mute">
              {start + 1}–{Math.min(items.length, start + perPage)} of {number(items.length)}
            </span>
            {start + perPage < items.length ? (
              <a href={`${here}${query(start + perPage)}`}>Next {perPage}</a>
            ) : (
              <span />
            )}
          </p>
        )}
      </div>
    </div>
  );
}

export const serverPages = [overview, section];
