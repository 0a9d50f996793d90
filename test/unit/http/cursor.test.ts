import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cursors } from "../../../src/http/cursor.ts";

const cursors = new Cursors(new TextEncoder().encode("a secret that is long enough for it"));
const position = { after: ["acme", "calc"], generation: 7 };

describe("cursors", () => {
  it("come back as they went, for the same scope", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), fc.nat(), fc.jsonValue(), async (after, generation, scope) => {
        const cursor = await cursors.write({ after, generation }, scope);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
        expect(await cursors.read(cursor, scope)).toEqual({ after, generation });
      }),
      { numRuns: 50 },
    );
  });

  it("open nothing for another scope, another secret, or after any change", async () => {
    const cursor = await cursors.write(position, { caller: ["acme"] });
    expect(await cursors.read(cursor, { caller: ["globex"] })).toBeUndefined();
    const other = new Cursors(new TextEncoder().encode("another secret that is long enough"));
    expect(await other.read(cursor, { caller: ["acme"] })).toBeUndefined();
    for (let at = 0; at < cursor.length; at += 1) {
      const swapped = cursor[at] === "A" ? "B" : "A";
      const forged = cursor.slice(0, at) + swapped + cursor.slice(at + 1);
      expect(await cursors.read(forged, { caller: ["acme"] })).toBeUndefined();
    }
  });

  it.each(["", ".", "a", "a.b", "a.b.c", "%", "=".repeat(50), "x".repeat(10_000)])(
    "refuse %j without throwing",
    async (text) => {
      expect(await cursors.read(text, {})).toBeUndefined();
    },
  );
});
