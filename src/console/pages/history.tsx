import { z } from "zod";
import { unwrap } from "../../http/context.ts";
import { server as serverParameters } from "../../http/parameters.ts";
import type { Revision, RevisionPage } from "../../registry/history-schema.ts";
import { at } from "../api.ts";
import { Said } from "../forms/said.tsx";
import { ServerFrame } from "../layout/server-frame.tsx";
import { page } from "../page.ts";
import { Counts } from "../parts/changes.tsx";
import { Ago, Bar, Digest, number, plural } from "../parts/figures.tsx";
import { serverHref } from "../parts/server-row.tsx";
import { clip, text } from "../parts/text.tsx";
import { type ShownServer, showServer } from "../server.ts";

const history = page({
  id: "server-history",
  path: "/servers/{tenant}/{name}/history",
  parameters: { path: serverParameters, query: { cursor: z.string().optional() } },
  signedIn: true,

  async get(services, { viewer, path, query: { cursor }, now, api, notice }) {
    const server = await showServer(services, viewer.principal, path);
    const { tenant, name } = server;
    if (server.role === "visitor")
      return {
        title: `History of ${tenant}/${name}`,
        nav: "servers",
        status: 403,
        main: <Outside of={server} now={now} />,
      };
    const address = at`/api/mcp/capabilities/${tenant}/${name}/revisions`;
    const { data, generation } = unwrap(await api<RevisionPage>(address, { query: { limit: "30", cursor } }));
    return {
      title: `History of ${tenant}/${name}`,
      nav: "servers",
      same: { json: address, cli: `history ${tenant}/${name}` },
      generation,
      source: "object",
      main: (
        <ServerFrame server={server} tab="history" now={now}>
          <Said notice={notice} />
          <History server={server} page={data} isFirst={cursor === undefined} now={now} />
        </ServerFrame>
      ),
    };
  },
});

/** History belongs to the tenant: a public server may have been private before. */
function Outside({ of, now }: { of: ShownServer; now: number }) {
  return (
    <ServerFrame server={of} tab="history" now={now}>
      <p>
        History is visible to members of <code>{of.tenant}</code>: a public server may have been private before.{" "}
        <a href={serverHref(of)}>What is there now</a>
      </p>
    </ServerFrame>
  );
}

interface Shown {
  server: ShownServer;
  page: RevisionPage;
  isFirst: boolean;
  now: number;
}

function History({ server, page: { items, current, nextCursor }, isFirst, now }: Shown) {
  const here = `${serverHref(server)}/history`;
  if (items.length === 0)
    return (
      <p>
        {isFirst ? "Nothing was published yet. The first publish is the first revision." : "There are no older ones."}{" "}
        {!isFirst && <a href={here}>The newest</a>}
      </p>
    );
  const most = Math.max(...items.map(({ tokens }) => tokens));
  const [newest, second] = items;
  return (
    <>
      {items.length > 1 && <CostPicture revisions={items} />}
      <form method="get" action={`${serverHref(server)}/diff`}>
        <div class="bar-of-list">
          {items.length > 1 ? (
            <>
              <button type="submit" class="primary">
                Compare
              </button>
              <span class="small mute">the two that are picked below, the earlier with the later</span>
            </>
          ) : (
            <span class="small mute">One revision: there is nothing to compare yet.</span>
          )}
        </div>
        <ol class="ledger revisions">
          {items.map((revision, index) => (
            <Row
              revision={revision}
              before={items[index + 1]}
              server={server}
              isCurrent={revision.digest === current && revision === items.find(({ digest }) => digest === current)}
              picked={{ from: revision === (second ?? newest), to: revision === newest }}
              canPick={items.length > 1}
              most={most}
              now={now}
            />
          ))}
        </ol>
      </form>
      <p class="pager">
        {isFirst ? <span /> : <a href={here}>The newest</a>}
        {nextCursor === undefined ? <span /> : <a href={`${here}?cursor=${encodeURIComponent(nextCursor)}`}>Older</a>}
      </p>
    </>
  );
}

interface RowShown {
  revision: Revision;
  before: Revision | undefined;
  server: ShownServer;
  isCurrent: boolean;
  picked: { from: boolean; to: boolean };
  canPick: boolean;
  most: number;
  now: number;
}

function Row({ revision, before, server, isCurrent, picked, canPick, most, now }: RowShown) {
  const { number: count, digest, publishedAt, publishedBy, version, changes, tokens } = revision;
  const moved = before === undefined ? 0 : tokens - before.tokens;
  const base = serverHref(server);
  return (
    <li>
      <div class="revision">
        {canPick && (
          <span class="picks">
            {(["from", "to"] as const).map((side) => (
              <label class="check">
                <input type="radio" name={side} value={digest} checked={picked[side]} />
                <span>
                  {side}
                  <span class="vh"> revision {count}</span>
                </span>
              </label>
            ))}
          </span>
        )}
        <div>
          <p class="sub">
            <strong class="num">{count}</strong>
            <Digest of={digest} what={`revision ${count}`} />
            {version !== undefined && <span class="num">{text(clip(version, 40))}</span>}
            {isCurrent && <span class="chip ok">● current</span>}
          </p>
          <p class="small soft">
            <Ago at={publishedAt} now={now} /> by {text(clip(publishedBy, 80))}
          </p>
          <p class="sub">
            <Counts of={changes} />
            {before !== undefined && (
              <a href={`${base}/diff?from=${before.digest}&to=${digest}`}>
                What changed<span class="vh"> in revision {count}</span>
              </a>
            )}
            {server.role === "manager" && !isCurrent && (
              <a href={`${base}/restore?digest=${digest}`}>
                Restore<span class="vh"> revision {count}</span>
              </a>
            )}
          </p>
        </div>
        <div class="cost">
          <span class="num">
            <span>{number(tokens)}</span>
            <span class={moved > 0 ? "grew" : "mute"}>
              {moved === 0 ? "tokens" : `${moved > 0 ? "+" : "−"}${number(Math.abs(moved))}`}
            </span>
          </span>
          <Bar of={tokens} most={most} />
        </div>
      </div>
    </li>
  );
}

const [wide, high] = [600, 72];

/** Cost over time: one step for each revision, the oldest on the left. */
function CostPicture({ revisions }: { revisions: readonly Revision[] }) {
  const costs = revisions.map(({ tokens }) => tokens).reverse();
  const most = Math.max(...costs, 1);
  const step = wide / costs.length;
  const y = (tokens: number) => high - 2 - Math.round(((high - 6) * tokens) / most);
  const points = costs.flatMap((tokens, index) => [
    `${(index * step).toFixed(1)},${y(tokens)}`,
    `${((index + 1) * step).toFixed(1)},${y(tokens)}`,
  ]);
  const [first = 0, last = 0] = [costs[0], costs.at(-1)];
  const percent = first === 0 ? undefined : Math.round((100 * (last - first)) / first);
  const moved = percent === undefined || percent === 0 ? "" : `, ${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
  const said = `${number(first)} to ${number(last)} tokens over ${plural(costs.length, "revision")}${moved}`;
  return (
    <figure class="over-time">
      <figcaption>
        <span class="label">Cost over time</span> <span class="num">{said}</span>
      </figcaption>
      <svg viewBox={`0 0 ${wide} ${high}`} preserveAspectRatio="none" role="img" aria-label={`Cost over time: ${said}`}>
        <polygon points={`0,${high} ${points.join(" ")} ${wide},${high}`} />
        <polyline points={points.join(" ")} />
      </svg>
      <p class="small mute ends">
        <span>revision {revisions.at(-1)?.number}</span>
        <span>most {number(most)}</span>
        <span>revision {revisions[0]?.number}</span>
      </p>
    </figure>
  );
}

export const historyPages = [history];
