import type { Child } from "hono/jsx";
import { catalogDimensions } from "../../catalog/contract.ts";
import { type CatalogQuery, catalogParameters, catalogQuery } from "../../catalog/query.ts";
import { RequestFailed } from "../../http/context.ts";
import { noFilter, readCatalogue } from "../catalogue.ts";
import type { ConsoleDeps } from "../deps.ts";
import { page } from "../page.ts";
import {
  Chosen,
  FacetList,
  href,
  labels,
  Orders,
  pickedOf,
  type Shown,
  toggled,
  valueWords,
  withOthers,
} from "../parts/facets.tsx";
import { number, plural } from "../parts/figures.tsx";
import { ServerRow } from "../parts/server-row.tsx";
import type { Viewer } from "../sign-in/viewer.ts";

const { facets: _, fields: __, limit: ___, ...filters } = catalogParameters;
const perPage = 30;

const servers = page({
  id: "servers",
  path: "/servers",
  parameters: { query: filters },

  async get(services, { viewer, query: { cursor, updated_since, order, ...wanted }, now, c }) {
    const shown: Shown = { chosen: wanted, order, since: updated_since };
    const query = catalogQuery({ ...wanted, order, updated_since, facets: ["true"], fields: undefined });
    const read = (from: string | undefined) =>
      readCatalogue(services, viewer.principal, query, { limit: perPage, cursor: from });
    let isRestarted = false;
    const found = await read(cursor).catch((error: unknown) => {
      const { code } = error instanceof RequestFailed ? error.failure : {};
      if (code !== "ErrorCursorInvalid" && code !== "ErrorCursorExpired") throw error;
      isRestarted = true;
      return read(undefined);
    });
    const { catalogue, source } = found;
    const { items, total, nextCursor, changed } = catalogue;
    const others = await otherValues(services, viewer, query);
    const { search } = new URL(c.req.url);
    const most = Math.max(0, ...items.map(({ tokens = 0 }) => tokens));
    const empty = items.length === 0 ? await emptyText(services, viewer, shown) : undefined;
    return {
      title: "Servers",
      nav: "servers",
      same: { json: `/api/catalog${search}`, cli: "list" },
      generation: catalogue.generation,
      source,
      holds: isRestarted ? undefined : allHold([found, ...others]),
      main: (
        <>
          <h1>Servers</h1>
          <div class="catalogue">
            <details class="facet-fold" open={pickedOf(shown.chosen).length > 0}>
              <summary>Filter</summary>
              <nav class="facets" aria-label="Filters">
                <FacetList of={withOthers(catalogue, others)} shown={shown} />
              </nav>
            </details>
            <section aria-label="Servers found" id="results">
              {isRestarted && (
                <p class="note" role="status">
                  That page of the list is gone: this is the first one again.
                </p>
              )}
              <p class="listhead">
                {total !== undefined && <span class="total">{plural(total.count, "server")}</span>}
                <Chosen of={shown} />
                <Orders of={shown} />
                {changed && <span class="mute small">Something was published since the first page.</span>}
              </p>
              {empty ?? (
                <ul class="ledger">
                  {items.map((server) => (
                    <ServerRow server={server} most={most} now={now} />
                  ))}
                </ul>
              )}
              <p class="pager">
                {cursor === undefined ? <span /> : <a href={href(shown)}>First page</a>}
                {nextCursor !== undefined && (
                  <a rel="next" href={href(shown, nextCursor)}>
                    Next {perPage}
                  </a>
                )}
              </p>
            </section>
          </div>
        </>
      ),
    };
  },
});

const mostCounted = 6;

/** In the dimensions that are filtered: what each value would find with the other filters. */
function otherValues(services: ConsoleDeps, viewer: Viewer, { filter }: CatalogQuery) {
  const filtered = catalogDimensions.filter((dimension) => (filter.values[dimension] ?? []).length > 0);
  return Promise.all(
    filtered.slice(0, mostCounted).map(async (dimension) => {
      const { [dimension]: _chosen, ...values } = filter.values;
      const query: CatalogQuery = {
        filter: { ...filter, values },
        order: "name",
        facets: [dimension],
        fields: ["name"],
      };
      const read = await readCatalogue(services, viewer.principal, query, { limit: 1, cursor: undefined });
      return { dimension, facet: read.catalogue.facets?.[dimension], holds: read.holds };
    }),
  );
}

/** A page that is made of several answers holds as long as all of them do. */
function allHold(parts: readonly { holds?: () => boolean }[]): (() => boolean) | undefined {
  const all = parts.map(({ holds }) => holds);
  return all.includes(undefined) ? undefined : () => all.every((holds) => holds?.());
}

/** Why nothing was found: each filter with what it finds by itself. */
async function emptyText(services: ConsoleDeps, viewer: Viewer, shown: Shown): Promise<Child> {
  const { chosen, since } = shown;
  const picked = pickedOf(chosen);
  if (picked.length === 0 && since !== undefined) {
    return (
      <div class="block">
        <p>
          No server that you may see has changed since then. <a href={href({ ...shown, since: undefined })}>Show all</a>
        </p>
      </div>
    );
  }
  if (picked.length === 0) {
    return (
      <div class="block">
        <p>
          No server is here yet that you may see. {viewer.signedIn ? "" : <a href="/sign-in?next=/servers">Sign in</a>}
          {viewer.signedIn ? "Publish one: " : " to see those of your tenants, or publish one: "}
          <code>rollcall publish TENANT/NAME FILE</code>
        </p>
      </div>
    );
  }
  const counts = await Promise.all(
    picked.slice(0, mostCounted).map(async ([dimension, value]) => {
      const query = catalogQuery({ ...noFilter, [dimension]: [value], facets: ["status"], fields: ["name"] });
      const { catalogue } = await readCatalogue(services, viewer.principal, query, { limit: 1, cursor: undefined });
      return catalogue.total?.count ?? 0;
    }),
  );
  return (
    <div class="block">
      <p>{picked.length === 1 ? "No server has this." : `No server has all ${picked.length} of these.`} By itself:</p>
      <ul class="plain-list">
        {counts.map((count, at) => {
          const [dimension, value] = picked[at] ?? ["kind", ""];
          return (
            <li>
              <a href={href({ ...shown, chosen: { [dimension]: [value] }, since: undefined })}>
                {labels[dimension]}: {valueWords(dimension, value)}
              </a>{" "}
              finds {number(count)}. <a href={href(toggled(shown, dimension, value))}>Remove it</a>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export const serversPages = [servers];
