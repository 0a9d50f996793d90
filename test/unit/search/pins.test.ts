import { describe, expect, it } from "vitest";
import type { CapabilityCard } from "../../../src/search/contract.ts";
import { checkPins, resolveCard } from "../../../src/search/pins.ts";

const card = (tenant: string, id: string, digest: string): CapabilityCard => ({
  ...{ tenant, id, digest },
  server: "s",
  kind: "tool",
  key: id,
  tokens: 1,
  registry: { tokens: 1, flags: [], status: "active" },
});
const add = card("a", "add", "sha256-1");
const named = [add, card("a", "both", "sha256-2"), card("b", "both", "sha256-3")];

describe("a name", () => {
  it("means one card, or says why not", () => {
    expect(resolveCard({ id: "add" }, named)).toEqual({ card: add });
    expect(resolveCard({ id: "both", tenant: "b" }, named)).toEqual({ card: named[2] });
    expect(resolveCard({ id: "both" }, named)).toMatchObject({
      reason: "ambiguous",
      message: expect.stringMatching(/a, b$/),
    });
    expect(resolveCard({ id: "add", tenant: "b" }, named)).toMatchObject({ reason: "not-found" });
  });
});

describe("pins", () => {
  it("hold at the digest that was reviewed, once each, and at any where none is given", () => {
    const pins = [{ id: "add", digest: "sha256-1" }, { id: "add" }, { id: "both", tenant: "a" }];
    expect(checkPins(pins, named)).toEqual({ held: [add, named[1]], failed: [] });
  });

  it("fail with the card that changed, and without one where there is none", () => {
    const { held, failed } = checkPins([{ id: "add", digest: "sha256-9" }, { id: "gone" }], named);
    expect(held).toEqual([]);
    expect(failed).toMatchObject([
      { pin: { id: "add" }, card: add, reason: "changed-since-pin" },
      { pin: { id: "gone" }, reason: "not-found" },
    ]);
  });

  it("do not fail beside another pin of the same capability that holds", () => {
    const pins = [
      { id: "add", digest: "sha256-9" },
      { id: "add", digest: "sha256-1" },
    ];
    expect(checkPins(pins, named)).toEqual({ held: [add], failed: [] });
  });
});
