import { catalogQuery } from "../../catalog/query.ts";
import { connectForms } from "../../connect/forms.ts";
import { registryTarget } from "../../connect/target.ts";
import { type Catalogue, noFilter, readCatalogue } from "../catalogue.ts";
import { page } from "../page.ts";
import { Code } from "../parts/code.tsx";
import { Bar, number, plural } from "../parts/figures.tsx";
import { type Kind, kindWords, ServerRow } from "../parts/server-row.tsx";

const shownServers = 8;
/** For clients that start a command instead of opening an address. */
const bridge = { command: "rollcall", args: [] };

const home = page({
  id: "home",
  path: "/",
  onlyHtml: true,

  async get(services, { viewer, origin, now }) {
    const query = catalogQuery({ ...noFilter, order: "updated", facets: ["kind", "status"], fields: undefined });
    const { catalogue, source, holds } = await readCatalogue(services, viewer.principal, query, {
      limit: shownServers,
      cursor: undefined,
    });
    const counts = () => <Counts of={catalogue} />;
    return {
      title: "What does the agent need to do?",
      same: { json: `/api/catalog?order=updated&facets=kind,status&limit=${shownServers}`, cli: "list" },
      generation: catalogue.generation,
      source,
      holds,
      fragments: { counts },
      main: (
        <>
          <search>
            <form class="ask" action="/search">
              <h1>What does the agent need to do?</h1>
              <div class="askline">
                <div>
                  <label for="task">Task, in plain words</label>
                  <input id="task" name="task" required maxlength={10_240} placeholder="will it rain tomorrow" />
                </div>
                <div>
                  <label for="budget">Budget, tokens</label>
                  <input id="budget" name="budget" type="number" min="1" placeholder="800" />
                </div>
                <button type="submit" class="primary">
                  Search
                </button>
              </div>
            </form>
          </search>
          <div id="counts" data-tick>
            {counts()}
          </div>
          <div class="two">
            {catalogue.items.length === 0 ? <Empty origin={origin} /> : <Servers of={catalogue} now={now} />}
            <ConnectRegistry origin={origin} />
          </div>
        </>
      ),
    };
  },
});

function Counts({ of: { totals, facets } }: { of: Catalogue }) {
  const kinds = facets?.kind?.values ?? [];
  const most = Math.max(0, ...kinds.map(({ count }) => count));
  return (
    <>
      <p class="counts">
        <Count of={totals?.servers} one="server" many="servers" />
        <Count of={totals?.capabilities} one="capability" many="capabilities" />
        <Count of={totals?.tokens} one="token in all" many="tokens in all" />
        {(facets?.status?.values ?? [])
          .filter(({ value }) => value !== "active")
          .map(({ value, count }) => (
            <span>
              <b>{number(count)}</b> {value}
            </span>
          ))}
      </p>
      <div class="kinds">
        {kinds.map(({ value, count }) => (
          <a href={`/servers?kind=${value}`}>
            <span>with {kindWords[value as Kind]?.[1] ?? value}</span>
            <span class="num">{number(count)}</span>
            <Bar of={count} most={most} />
          </a>
        ))}
      </div>
    </>
  );
}

function Count({ of: count, one, many }: { of: number | undefined; one: string; many: string }) {
  return (
    <span>
      <b>{count === undefined ? "–" : number(count)}</b> {count === 1 ? one : many}
    </span>
  );
}

function Servers({ of: { items, total }, now }: { of: Catalogue; now: number }) {
  const most = Math.max(...items.map(({ tokens = 0 }) => tokens));
  return (
    <section aria-labelledby="servers-title">
      <h2 class="label" id="servers-title">
        Recently updated
      </h2>
      <ul class="ledger">
        {items.map((server) => (
          <ServerRow server={server} most={most} now={now} />
        ))}
      </ul>
      <p class="pager">
        <a href="/servers">{total === undefined ? "All servers" : `All ${plural(total.count, "server")}`}</a>
      </p>
    </section>
  );
}

function Empty({ origin }: { origin: string }) {
  const publish = `curl -s -X PUT ${origin}/api/mcp/capabilities/demo/hello \\
  -H "Authorization: Bearer $ROLLCALL_TOKEN" \\
  -d '{"version": "1.0.0", "tools": [{"name": "say_hello", "description": "Says hello."}]}'`;
  return (
    <section class="block">
      <h2>No server is public yet</h2>
      <p>Publish one; it shows here once its visibility is public. Servers of your tenants show after signing in.</p>
      <Code text={publish} what="the command that publishes a server" />
    </section>
  );
}

/** For an agent: the registry is an MCP server itself. */
function ConnectRegistry({ origin }: { origin: string }) {
  return (
    <section aria-labelledby="connect-title" class="block">
      <h2 class="label" id="connect-title">
        Connect this registry
      </h2>
      <p class="small soft">Over MCP an agent searches, negotiates and reads by itself.</p>
      {connectForms(registryTarget(origin, { token: false }), { bridge }).map(
        ({ client, title, snippet, command, link }) =>
          snippet === undefined ? null : (
            <details open={client === "claude-code"}>
              <summary>{title}</summary>
              <Code text={command ?? snippet} what={`what ${title} needs`} />
              {link !== undefined && (
                <p class="small">
                  <a href={link}>Open in {title}</a>
                </p>
              )}
            </details>
          ),
      )}
      <h2 class="label">Try</h2>
      <ul class="plain-list">
        <li>
          <a href="/search?task=will+it+rain+tomorrow&budget=800">Find a tool for a task, within a budget</a>
        </li>
        <li>
          <a href="/negotiate">Negotiate a session as an agent would</a>
        </li>
        <li>
          <a href="/servers?kind=prompt">See which servers have prompts</a>
        </li>
      </ul>
    </section>
  );
}

export const homePages = [home];
