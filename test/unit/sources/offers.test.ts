import { describe, expect, it } from "vitest";
import { err, ok } from "../../../src/kernel/result.ts";
import type { SourceReading } from "../../../src/sources/contract.ts";
import { copyOf, offerOf, offersOf } from "../../../src/sources/offers.ts";
import type { SourceRead } from "../../../src/sources/refresh-outcome.ts";

const lists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

function reading(tools: string[], incomplete: SourceReading["incomplete"] = []): SourceReading {
  return {
    ...{ ...lists, tools: tools.map((name) => ({ name })), protocolVersion: "2025-11-25", session: true },
    ...{ era: "2025-streamable", remembered: { era: "2025-streamable", at: 0 }, listChanged: false },
    ...{ declaresNothing: false, incomplete, warnings: [] },
  };
}

const room = (items = 10) => ({ items });

const names = (items: readonly Record<string, unknown>[]) => items.map(({ name }) => name);

describe("what a source offers", () => {
  it("is completed from its copy only where a list could not be read to its end", () => {
    const last = offerOf(reading(["a", "b"]), undefined, room());
    expect(names(offerOf(reading(["b", "c"], ["tools"]), last, room()).tools)).toEqual(["b", "c", "a"]);
    expect(names(offerOf(reading(["b", "c"]), last, room()).tools)).toEqual(["b", "c"]);
  });

  it("is completed only as far as there is room, in all lists and of all sources together", () => {
    const url = (id: string) => `https://${id}.example/mcp`;
    const copy = (id: string, ...tools: string[]) => ({
      ...{ address: url(id), names: {}, offer: offerOf(reading(tools), undefined, room()) },
    });
    const source = (id: string, read: SourceRead["read"]): SourceRead => ({
      ...{ source: { id, url: url(id), type: "sse" }, row: {} as SourceRead["row"], read },
    });
    const down = err({ reason: "unavailable" as const, message: "no" });
    const reads = [source("moved", down), source("endless", ok(reading(["c", "d"], ["tools"]))), source("down", down)];
    const copies = new Map([
      ["moved", { ...copy("moved", "m1", "m2"), address: "https://elsewhere.example/mcp" }],
      ["endless", copy("endless", "a", "b", "c")],
      ["down", copy("down", "e")],
    ]);
    const within = (most: number) => offersOf(reads, copies, most).map(({ offer }) => names(offer.tools));
    expect(within(10)).toEqual([["m1", "m2"], ["c", "d", "a", "b"], ["e"]]);
    expect(within(6)).toEqual([["m1"], ["c", "d", "a", "b"], ["e"]]);
    expect(within(4)).toEqual([[], ["c", "d", "a"], ["e"]]);
    expect(within(1)).toEqual([[], ["c", "d"], []]);
  });

  it("has nothing of the reading but what can be published", () => {
    expect(Object.keys(offerOf(reading(["a"]), undefined, room())).sort()).toEqual(
      [...Object.keys(lists), "instructions", "protocolVersion", "serverInfo", "session"].sort(),
    );
  });
});

describe("a copy", () => {
  it("has no items that were refused, and the names that were given", () => {
    const offer = offerOf(reading(["a", "bad name", "c"]), undefined, room());
    const copy = copyOf(offer, { tools: { c: "main.c" } }, (list, own) => list === "tools" && own === "bad name");
    expect([names(copy.offer.tools), copy.names]).toEqual([["a", "c"], { tools: { c: "main.c" } }]);
  });
});
