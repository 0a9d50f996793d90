import { describe, expect, it } from "vitest";
import type { SourceReading } from "../../../src/sources/contract.ts";
import { copyOf, isEmptyOffer, offerOf } from "../../../src/sources/offers.ts";

const lists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

function reading(tools: string[], incomplete: SourceReading["incomplete"] = []): SourceReading {
  return {
    ...{ ...lists, tools: tools.map((name) => ({ name })), protocolVersion: "2025-11-25", session: true },
    ...{ era: "2025-streamable", remembered: { era: "2025-streamable", at: 0 }, listChanged: false },
    ...{ declaresNothing: false, incomplete, warnings: [] },
  };
}

const names = (items: readonly Record<string, unknown>[]) => items.map(({ name }) => name);

describe("what a source offers", () => {
  it("is completed from its copy only where a list could not be read to its end", () => {
    const last = offerOf(reading(["a", "b"]), undefined);
    expect(names(offerOf(reading(["b", "c"], ["tools"]), last).tools)).toEqual(["b", "c", "a"]);
    expect(names(offerOf(reading(["b", "c"]), last).tools)).toEqual(["b", "c"]);
  });

  it("has nothing of the reading but what can be published", () => {
    expect(Object.keys(offerOf(reading(["a"]), undefined)).sort()).toEqual(
      [...Object.keys(lists), "instructions", "protocolVersion", "serverInfo", "session"].sort(),
    );
  });
});

describe("a copy", () => {
  it("has no items that were refused, and the names that were given", () => {
    const offer = offerOf(reading(["a", "bad name", "c"]), undefined);
    const copy = copyOf(offer, { tools: { c: "main.c" } }, (list, own) => list === "tools" && own === "bad name");
    expect([names(copy.offer.tools), copy.names]).toEqual([["a", "c"], { tools: { c: "main.c" } }]);
    expect([isEmptyOffer(copy.offer), isEmptyOffer(offerOf(reading([]), undefined))]).toEqual([false, true]);
  });
});
