import { describe, expect, it } from "vitest";
import { encodeSegment, type SegmentPlace } from "../../../src/directory/encode-segment.ts";
import { decodeSegment } from "../../../src/directory/segment.ts";
import { DirectoryView, type LoadedSegment, type SegmentForm } from "../../../src/directory/view.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { card, place, tombstone } from "./places.ts";

const keys: SegmentForm<string[]> = {
  name: "keys",
  build: (segment) => Array.from({ length: segment.cards }, (_, at) => segment.cardText(at, "key") ?? ""),
  bytesOf: (form) => form.length,
};

function loaded(places: readonly SegmentPlace[]): LoadedSegment {
  const decoded = decodeSegment(encodeSegment(places, "inline").bytes);
  if (!decoded.ok) throw new Error(decoded.error);
  const { value: segment } = decoded;
  return { segment, forms: new Map([[keys.name, keys.build(segment)]]), bytes: segment.bytes };
}

/** Oldest segment first. */
function viewOf(...segments: readonly (readonly SegmentPlace[])[]): DirectoryView {
  return new DirectoryView({ epoch: "e", generation: 1 }, segments.map(loaded));
}

/** Every card that a reader of the view may show. */
function shown(view: DirectoryView): string[] {
  return view.segments
    .flatMap(({ segment, isLive, form }) =>
      segment.cards === 0
        ? []
        : form(keys)
            .map((key, at) => ({ key, place: segment.placeOfCard(at) }))
            .filter(({ place: at }) => isLive(at))
            .map(({ key, place: at }) => `${segment.placeAt(at).tenant}/${segment.placeAt(at).name} ${key}`),
    )
    .sort();
}

const at = (tenant: string, name: string) => ({ tenant: tenantKey(tenant), name });

describe("a view", () => {
  const base = [place("a", "1"), place("a", "2"), place("b", "1")];

  it("shows a place in its newest state only", () => {
    const view = viewOf(base, [place("a", "2", { cards: [card("other")] })]);
    expect(shown(view)).toEqual(["a/1 forecast", "a/2 other", "b/1 forecast"]);
    expect(view.find(at("a", "2"))?.segment).toBe(view.segments[0]?.segment);
    expect(view.segments.map(({ isWhole }) => isWhole)).toEqual([true, false]);
  });

  it("shows nothing of a server behind its tombstone, and shows it again when it comes back", () => {
    const gone = [tombstone("a", "1")];
    expect(shown(viewOf(base, gone))).toEqual(["a/2 forecast", "b/1 forecast"]);
    expect(viewOf(base, gone).entry(at("a", "1"))).toBeUndefined();
    expect(shown(viewOf(base, gone, [place("a", "1", { cards: [card("back")] })]))).toContain("a/1 back");
  });

  it("hides a place in every older segment", () => {
    const view = viewOf(base, [place("a", "2", { cards: [card("second")] })], [tombstone("a", "2")]);
    expect(shown(view)).toEqual(["a/1 forecast", "b/1 forecast"]);
  });

  it("finds nothing where there is nothing", () => {
    expect(viewOf().find(at("a", "1"))).toBeUndefined();
    expect(viewOf(base).entry(at("c", "1"))).toBeUndefined();
    expect(viewOf(base).entry(at("b", "1"))?.name).toBe("1");
  });

  it("joins the parts of a place, and replaces them together", () => {
    const parts = [
      [place("a", "1"), place("a", "2", { cards: [card("p0")] })],
      [{ ...tombstone("a", "2"), part: 1, cards: [card("p1")] }],
      [{ ...tombstone("a", "2"), part: 2, cards: [card("p2")] }],
    ];
    const old = [place("a", "2", { cards: [card("old")] })];
    expect(shown(viewOf(old, ...parts))).toEqual(["a/1 forecast", "a/2 p0", "a/2 p1", "a/2 p2"]);
    expect(viewOf(old, ...parts).entry(at("a", "2"))?.name).toBe("2");
    expect(shown(viewOf(old, ...parts, [tombstone("a", "2")]))).toEqual(["a/1 forecast"]);
  });
});
