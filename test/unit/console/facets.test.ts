import { describe, expect, it } from "vitest";
import {
  Chosen,
  FacetList,
  href,
  Orders,
  type Shown,
  toggled,
  withOthers,
} from "../../../src/console/parts/facets.tsx";

const html = (child: unknown) => String(child);
const all: Shown = { chosen: {}, order: "name" };

describe("the address of a list of servers", () => {
  it("says the filters, the time, the order and the page", () => {
    expect(href(all)).toBe("/servers");
    const since = Date.UTC(2026, 0, 31);
    const shown: Shown = { chosen: { kind: ["tool"], category: ["a&b"] }, order: "updated", since };
    expect(href(shown, "c.d")).toBe(
      "/servers?kind=tool&category=a%26b&updated_since=2026-01-31T00%3A00%3A00.000Z&order=updated&cursor=c.d",
    );
  });

  it("is without a value that is chosen again, however an owner is spelled", () => {
    const shown: Shown = { chosen: { tenant: ["acme"], kind: ["tool"] }, order: "updated" };
    expect(href(toggled(shown, "tenant", "Acme"))).toBe("/servers?kind=tool&order=updated");
    expect(href(toggled(shown, "kind", "prompt"))).toBe("/servers?tenant=acme&kind=tool&kind=prompt&order=updated");
  });

  it("keeps the order as filters are removed, and the filters as the order changes", () => {
    const shown: Shown = { chosen: { kind: ["tool"] }, order: "updated", since: 0 };
    expect(html(Chosen({ of: shown }))).toContain('href="/servers?order=updated">Remove all');
    const orders = html(Orders({ of: { ...shown, since: undefined } }));
    expect(orders).toContain('href="/servers?kind=tool">By name');
    expect(orders).toContain('href="/servers?kind=tool&amp;order=updated" aria-current="true">Last updated');
  });
});

describe("the filters beside a list", () => {
  const found = (facets: object, count: number) => ({ items: [], generation: 1, total: { count }, facets });
  const list = (facets: object, count: number, shown = all, others: Parameters<typeof withOthers>[1] = []) =>
    html(FacetList({ of: withOthers(found(facets, count), others), shown }));

  it("have a flag that some servers have, and no value that all share", () => {
    const flag = { values: [{ value: "exfiltration", count: 1 }] };
    const status = { values: [{ value: "active", count: 3 }] };
    const shown = list({ flag, status }, 3);
    expect(shown).toContain('href="/servers?flag=exfiltration"');
    expect(shown).not.toContain("Status");
  });

  it("have the other values of a filter, and a chosen value that is none of the first", () => {
    const counted = (from: number) =>
      Array.from({ length: 20 }, (_, at) => ({ value: `c${from + at}`, count: 50 - at }));
    const chosen = { category: ["c90"] };
    const shown = list({ category: { values: [{ value: "c90", count: 2 }] } }, 2, { ...all, chosen }, [
      { dimension: "category", facet: { values: counted(0), more: true } },
    ]);
    expect(shown.match(/<li>/g)).toHaveLength(13);
    expect(shown).toContain('href="/servers?category=c90&amp;category=c0"');
    expect(shown).toContain('<a href="/servers" aria-current="true"><span>c90</span><span class="n">2</span>');
    expect(shown).toContain("and others");
  });
});
