import type { Child } from "hono/jsx";
import { catalogDimensions } from "../../catalog/contract.ts";
import { catalogParameters, catalogQuery } from "../../catalog/query.ts";
import { RequestFailed } from "../../http/context.ts";
import { type Catalogue, noFilter, readCatalogue } from "../catalogue.ts";
import type { ConsoleDeps } from "../deps.ts";
import { page } from "../page.ts";
import { number, plural } from "../parts/figures.tsx";
import { type Kind, kindWords, ServerRow } from "../parts/server-row.tsx";
import { text } from "../parts/text.tsx";
import type { Viewer } from "../sign-in/viewer.ts";

type Dimension = (typeof catalogDimensions)[number];
type Filters = Partial<Record<Dimension, readonly string[]>>;

const { facets: _, fields: __, limit: ___, ...filters } = catalogParameters;
const perPage = 30;

const labels: Record<Dimension, string> = {
  kind: "Has",
  status: "Status",
  tenant: "Owner",
  provider: "Provider",
  category: "Category",
  permission: "Permission",
  effect: "Effect",
  capability_type: "Type",
  probe: "Sources",
  flag: "Flag",
};

const servers = page({
  id: "servers",
  path: "/servers",
  parameters: { query: filters },

  async get(services, { viewer, query: { cursor, updated_since, order, ...wanted }, now, c }) {
    const chosen: Filters = wanted;
    const query = catalogQuery({ ...wanted, order, updated_since, facets: ["true"], fields: undefined });
    const read = (from: string | undefined) =>
      readCatalogue(services, viewer.principal, query, { limit: perPage, cursor: from });
    let isRestarted = false;
    const { catalogue, source, holds } = await read(cursor).catch((error: unknown) => {
      const { code } = error instanceof RequestFailed ? error.failure : {};
      if (code !== "ErrorCursorInvalid" && code !== "ErrorCursorExpired") throw error;
      isRestarted = true;
      return read(undefined);
    });
    const { items, total, nextCursor, changed } = catalogue;
    const { search } = new URL(c.req.url);
    const most = Math.max(0, ...items.map(({ tokens = 0 }) => tokens));
    const empty = items.length === 0 ? await emptyText(services, viewer, chosen) : undefined;
    const facetList = <FacetList of={catalogue} chosen={chosen} />;
    return {
      title: "Servers",
      nav: "servers",
      same: { json: `/api/catalog${search}`, cli: "list" },
      generation: catalogue.generation,
      source,
      holds: isRestarted ? undefined : holds,
      main: (
        <>
          <h1>Servers</h1>
          <div class="catalogue">
            <details class="facet-fold" open={isNarrowed(chosen)}>
              <summary>Filter</summary>
              <nav class="facets" aria-label="Filters">
                {facetList}
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
                <Chosen of={chosen} />
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
                {cursor === undefined ? <span /> : <a href={href(chosen)}>First page</a>}
                {nextCursor !== undefined && (
                  <a rel="next" href={href(chosen, [["cursor", nextCursor]])}>
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

function isNarrowed(chosen: Filters): boolean {
  return Object.values(chosen).some((values) => values !== undefined && values.length > 0);
}

/** The address is the state: every filter is a link. */
function href(chosen: Filters, more: readonly [string, string][] = []): string {
  const search = new URLSearchParams();
  for (const dimension of catalogDimensions)
    for (const value of chosen[dimension] ?? []) search.append(dimension, value);
  for (const [name, value] of more) search.append(name, value);
  return search.size === 0 ? "/servers" : `/servers?${search}`;
}

function toggled(chosen: Filters, dimension: Dimension, value: string): Filters {
  const values = chosen[dimension] ?? [];
  const next = values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
  return { ...chosen, [dimension]: next };
}

function valueWords(dimension: Dimension, value: string): Child {
  if (dimension === "kind") return kindWords[value as Kind]?.[1] ?? value;
  return text(value);
}

function FacetList({ of: { facets }, chosen }: { of: Catalogue; chosen: Filters }) {
  const order = Object.keys(labels) as Dimension[];
  return (
    <>
      {order.map((dimension) => {
        const { values = [], more } = facets?.[dimension] ?? {};
        const picked = chosen[dimension] ?? [];
        // One value that all share narrows nothing.
        if (values.length === 0 || (values.length === 1 && picked.length === 0 && dimension !== "kind")) return null;
        return (
          <section>
            <h2 class="label">{labels[dimension]}</h2>
            <ul>
              {values.slice(0, 12).map(({ value, count }) => (
                <li>
                  <a
                    href={href(toggled(chosen, dimension, value))}
                    aria-current={picked.includes(value) ? "true" : undefined}
                  >
                    <span>{valueWords(dimension, value)}</span>
                    <span class="n">{number(count)}</span>
                  </a>
                </li>
              ))}
            </ul>
            {(more || values.length > 12) && <p class="small mute">and others</p>}
          </section>
        );
      })}
    </>
  );
}

function Chosen({ of: chosen }: { of: Filters }) {
  const picked = pickedOf(chosen);
  if (picked.length === 0) return null;
  return (
    <>
      {picked.map(([dimension, value]) => (
        <a class="chip" href={href(toggled(chosen, dimension, value))}>
          {valueWords(dimension, value)} <span aria-hidden="true">×</span>
          <span class="vh">: remove this filter</span>
        </a>
      ))}
      {picked.length > 1 && (
        <a class="small" href="/servers">
          Remove all
        </a>
      )}
    </>
  );
}

function pickedOf(chosen: Filters): [Dimension, string][] {
  return catalogDimensions.flatMap((dimension) =>
    (chosen[dimension] ?? []).map((value): [Dimension, string] => [dimension, value]),
  );
}

const mostCounted = 6;

/** Why nothing was found: each filter with what it finds by itself. */
async function emptyText(services: ConsoleDeps, viewer: Viewer, chosen: Filters): Promise<Child> {
  const picked = pickedOf(chosen);
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
              <a href={href({ [dimension]: [value] })}>
                {labels[dimension]}: {valueWords(dimension, value)}
              </a>{" "}
              finds {number(count)}. <a href={href(toggled(chosen, dimension, value))}>Remove it</a>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export const serversPages = [servers];
