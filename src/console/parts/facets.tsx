import type { Child } from "hono/jsx";
import { type CatalogDimension, type CatalogOrder, catalogDimensions, type Facet } from "../../catalog/contract.ts";
import { tenantKey } from "../../kernel/names.ts";
import type { Catalogue } from "../catalogue.ts";
import { number } from "./figures.tsx";
import { type Kind, kindWords } from "./server-row.tsx";
import { text } from "./text.tsx";

/** Which servers a list shows, and in which order. */
export interface Shown {
  chosen: Partial<Record<CatalogDimension, readonly string[]>>;
  order: CatalogOrder;
  /** Only those that changed then or later; epoch milliseconds. */
  since?: number;
}

/** In the order shown. */
export const labels: Record<CatalogDimension, string> = {
  kind: "Has",
  status: "Status",
  flag: "Flag",
  tenant: "Owner",
  provider: "Provider",
  category: "Category",
  permission: "Permission",
  effect: "Effect",
  capability_type: "Type",
  probe: "Sources",
};

/** Values shown of a dimension, and those that are chosen. */
const maxShown = 12;

/** The address is the state: every filter and order is a link. */
export function href({ chosen, order, since }: Shown, cursor?: string): string {
  const search = new URLSearchParams(pickedOf(chosen));
  if (since !== undefined) search.append("updated_since", new Date(since).toISOString());
  if (order !== "name") search.append("order", order);
  if (cursor !== undefined) search.append("cursor", cursor);
  return search.size === 0 ? "/servers" : `/servers?${search}`;
}

export function toggled(shown: Shown, dimension: CatalogDimension, value: string): Shown {
  const values = shown.chosen[dimension] ?? [];
  const rest = values.filter((other) => !isSame(dimension, other, value));
  const next = rest.length < values.length ? rest : [...values, value];
  return { ...shown, chosen: { ...shown.chosen, [dimension]: next } };
}

/** An owner is chosen by the key of its name, and counted by the name as it is shown. */
function isSame(dimension: CatalogDimension, a: string, b: string): boolean {
  return dimension === "tenant" ? tenantKey(a) === tenantKey(b) : a === b;
}

export function pickedOf(chosen: Shown["chosen"]): [CatalogDimension, string][] {
  return catalogDimensions.flatMap((dimension) =>
    (chosen[dimension] ?? []).map((value): [CatalogDimension, string] => [dimension, value]),
  );
}

export function valueWords(dimension: CatalogDimension, value: string): Child {
  if (dimension === "kind") return kindWords[value as Kind]?.[1] ?? value;
  return text(value);
}

/** With the values of a filtered dimension that could be chosen too, where they were counted. */
export function withOthers(
  { facets, total }: Catalogue,
  others: readonly { dimension: CatalogDimension; facet?: Facet }[],
): FacetsShown {
  const counted = others.flatMap(({ dimension, facet }) => (facet === undefined ? [] : [[dimension, facet] as const]));
  return { found: facets ?? {}, open: Object.fromEntries(counted), servers: total?.count };
}

export interface FacetsShown {
  /** Of the servers in the list. */
  found: Partial<Record<CatalogDimension, Facet>>;
  /** Of a filtered dimension: as if it were not filtered. */
  open: Partial<Record<CatalogDimension, Facet>>;
  servers: number | undefined;
}

export function FacetList({ of: { found, open, servers }, shown }: { of: FacetsShown; shown: Shown }) {
  const order = Object.keys(labels) as CatalogDimension[];
  return (
    <>
      {order.map((dimension) => {
        const { values = [], more } = open[dimension] ?? found[dimension] ?? {};
        const picked = shown.chosen[dimension] ?? [];
        const isPicked = (value: string) => picked.some((other) => isSame(dimension, other, value));
        // One value that all share narrows nothing.
        const isShared = values.length === 1 && values[0]?.count === servers;
        if (values.length === 0 || (isShared && picked.length === 0 && dimension !== "kind")) return null;
        const first = values.slice(0, maxShown);
        // A server with a chosen value is in the list, so its count is the same in both.
        const rest = (found[dimension]?.values ?? []).filter(
          ({ value }) => isPicked(value) && !first.some((other) => other.value === value),
        );
        return (
          <section>
            <h2 class="label">{labels[dimension]}</h2>
            <ul>
              {[...first, ...rest].map(({ value, count }) => (
                <li>
                  <a href={href(toggled(shown, dimension, value))} aria-current={isPicked(value) ? "true" : undefined}>
                    <span>{valueWords(dimension, value)}</span>
                    <span class="n">{number(count)}</span>
                  </a>
                </li>
              ))}
            </ul>
            {(more || values.length > maxShown) && <p class="small mute">and others</p>}
          </section>
        );
      })}
    </>
  );
}

/** The filters, each with a link that removes it. */
export function Chosen({ of: shown }: { of: Shown }) {
  const picked = pickedOf(shown.chosen);
  const { since } = shown;
  const count = picked.length + (since === undefined ? 0 : 1);
  return (
    <>
      {picked.map(([dimension, value]) => (
        <RemoveChip to={toggled(shown, dimension, value)}>{valueWords(dimension, value)}</RemoveChip>
      ))}
      {since !== undefined && (
        <RemoveChip to={{ ...shown, since: undefined }}>changed since {new Date(since).toISOString()}</RemoveChip>
      )}
      {count > 1 && (
        <a class="small" href={href({ chosen: {}, order: shown.order })}>
          Remove all
        </a>
      )}
    </>
  );
}

function RemoveChip({ to, children }: { to: Shown; children?: Child }) {
  return (
    <a class="chip" href={href(to)}>
      <span>{children}</span> <span aria-hidden="true">×</span>
      <span class="vh">: remove this filter</span>
    </a>
  );
}

const orderWords: Record<CatalogOrder, string> = { name: "By name", updated: "Last updated" };

export function Orders({ of: shown }: { of: Shown }) {
  return (
    <span class="orders small">
      {(Object.keys(orderWords) as CatalogOrder[]).map((order) => (
        <a href={href({ ...shown, order })} aria-current={order === shown.order ? "true" : undefined}>
          {orderWords[order]}
        </a>
      ))}
    </span>
  );
}
