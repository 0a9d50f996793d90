import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { formatEvent } from "../../../src/kernel/sse.ts";
import { parsePositions, positionsText } from "../../../src/sessions/follow-chosen.ts";

describe("an event", () => {
  it("is one data line whatever the data holds", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const data = JSON.parse(json);
        const text = formatEvent({ id: "a:1", name: "change", data });
        expect(text.split("\n")).toHaveLength(5);
        expect(JSON.parse(text.split("\n")[2]?.slice("data: ".length) ?? "")).toEqual(data);
      }),
    );
  });
});

describe("positions", () => {
  it("come back as they were written", () => {
    const positions = new Map([
      [tenantKey("acme"), 12],
      [tenantKey("io.github.acme"), 0],
    ]);
    expect(parsePositions(positionsText(positions))).toEqual({ acme: 12, "io.github.acme": 0 });
  });

  it("are a tenant's in any spelling", () => {
    expect(parsePositions("Acme:12,IO.github.acme:7")).toEqual({ acme: 12, "io.github.acme": 7 });
  });

  it.each([
    "",
    "acme",
    "acme:",
    "acme:-1",
    "acme:1,",
    "acme:1:2",
    "a_b:1",
    "\u212aacme:1",
    "acme:1.5",
    `acme:${"9".repeat(16)}`,
    "a:1".repeat(5_000),
  ])("refuse %j", (text) => {
    expect(parsePositions(text)).toBeUndefined();
  });

  it("have no way into a prototype", () => {
    expect(parsePositions("constructor:1")).toEqual({ constructor: 1 });
    expect(Object.keys(parsePositions("constructor:1") ?? {})).toEqual(["constructor"]);
  });
});
