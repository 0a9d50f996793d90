import { describe, expect, it } from "vitest";
import { createDrafts } from "../../../src/formats/definitions.ts";
import { createWarnings } from "../../../src/formats/text.ts";
import { importBounds } from "../../../src/kernel/bounds.ts";
import { runAtOnce } from "../../../src/kernel/pace/pace.ts";

const { sharedBytes, sharedTimes, definitionBytes, definitionTimes } = importBounds;

/** A schema whose JSON text has so many bytes. */
function schemaOf(bytes: number) {
  const rest = JSON.stringify({ description: "" }).length;
  return { description: "x".repeat(bytes - rest) };
}

describe("what operations share, copied into each", () => {
  const add = (bytes: number, documentBytes: number) => {
    const drafts = createDrafts({}, { documentBytes });
    return runAtOnce(drafts.add({ operation: { inputSchema: schemaOf(bytes) }, inputNeeds: [], outputNeeds: [] }));
  };

  it.each([0, 1, 1_000])("may have 512 kB and 16 times the bytes of a document of %d bytes", (documentBytes) => {
    const limit = sharedBytes + sharedTimes * documentBytes;
    expect(add(limit, documentBytes)).toBeUndefined();
    expect(add(limit + 1, documentBytes)?.bound).toEqual({ name: "sharedBytes", limit, found: limit + 1 });
    expect(add(limit + 1, documentBytes + 1)).toBeUndefined();
    expect(add(limit + sharedTimes + 1, documentBytes + 1)?.bound?.name).toBe("sharedBytes");
  });
});

describe("definitions, copied into each operation that needs them", () => {
  /** Bytes around a definition: its name and what separates it. */
  const around = JSON.stringify("D").length + 2 + 16;
  const finish = (bytes: number, documentBytes: number) => {
    const drafts = createDrafts({}, { documentBytes });
    runAtOnce(drafts.add({ operation: { inputSchema: { $ref: "#/$defs/D" } }, inputNeeds: ["D"], outputNeeds: [] }));
    const warnings = createWarnings();
    const definitions = new Map([["D", { name: "D", schema: schemaOf(bytes - around), needs: [] }]]);
    const finished = runAtOnce(drafts.finish(definitions, warnings));
    if (!finished.ok) throw new Error(finished.error.message);
    const [operation] = finished.value as { inputSchema: { $defs: { D: object } } }[];
    return { definition: operation?.inputSchema.$defs.D, warnings: warnings.all() };
  };

  it.each([0, 1, 1_000])(
    "may have 96 kB and 4 times the bytes of a document of %d bytes; beyond it they are open",
    (documentBytes) => {
      const limit = definitionBytes + definitionTimes * documentBytes;
      expect(finish(limit, documentBytes)).toEqual({ definition: schemaOf(limit - around), warnings: [] });
      expect(finish(limit + 1, documentBytes)).toEqual({
        definition: { title: "D" },
        warnings: [expect.stringContaining("1 operations need more than")],
      });
      expect(finish(limit + 1, documentBytes + 1).warnings).toEqual([]);
      expect(finish(limit + definitionTimes + 1, documentBytes + 1).definition).toEqual({ title: "D" });
    },
  );
});
