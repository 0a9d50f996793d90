import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultCapabilityId, isIdOfPlace, placeOfId } from "../../../src/manifest/capability-id.ts";
import { CapabilityKind } from "../../../src/manifest/schema/capability.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const kind = fc.constantFrom(...CapabilityKind.options.filter((option) => option !== "operation"));

describe("an id that nothing else says", () => {
  it("says where its item is", () => {
    fc.assert(
      fc.property(text, kind, text, fc.option(text, { nil: undefined }), (server, of, key, provider) => {
        expect(isIdOfPlace(defaultCapabilityId(server, of, key, provider), { server, kind: of, key })).toBe(true);
      }),
    );
  });

  it("is of a tool if it has no kind", () => {
    expect(placeOfId("mcp.s~2Et.list~20it")).toEqual({ server: "s.t", kind: "tool", key: "list it" });
    expect(placeOfId("mcp.s.prompt:a~3Ab")).toEqual({ server: "s", kind: "prompt", key: "a:b" });
  });

  it.each([
    "",
    "one",
    "mcp",
    "mcp.s.t.u",
    "mcp.s.a:b",
    "mcp.s.tools:a",
    "mcp.s.tool:a",
    "mcp.s.operation:a",
    "mcp.s.prompt:a:b",
    "mcp.s.%41",
    "mcp.s.~41",
    "mcp.s.~2e",
    "mcp.s.~C3",
    "mcp.s t.a",
  ])("says no place if it is %j", (id) => {
    expect(placeOfId(id)).toBeUndefined();
  });

  it("is of no other place", () => {
    const place = { server: "s", kind: "tool" as const, key: "a" };
    expect(isIdOfPlace("mcp.s.a", place)).toBe(true);
    expect(isIdOfPlace("mcp.s.a", { ...place, kind: "prompt" })).toBe(false);
    expect(isIdOfPlace("mcp.s.a", { ...place, kind: "operation" })).toBe(false);
    expect(isIdOfPlace("mcp.s.b", place)).toBe(false);
    expect(isIdOfPlace("mcp.t.a", place)).toBe(false);
  });
});
