import { expect, test } from "vitest";
import { Mutator } from "../../../scripts/drills/mutate.ts";

const manifest = { name: "a", tools: [{ name: "b", inputSchema: { type: "object", properties: { x: {} } } }] };

/** The first documents of a seed, as text: each must be one that JSON can carry. */
function documentsOf(seed: number): string[] {
  const mutator = new Mutator(seed);
  return Array.from({ length: 2_000 }, () => JSON.stringify(mutator.document(manifest)) ?? "");
}

test("the same seed makes the same documents, whatever was made before", () => {
  const first = documentsOf(7);
  documentsOf(8);
  expect(documentsOf(7)).toEqual(first);
});

test("a document does not grow with the number of documents before it", () => {
  const longest = Math.max(...documentsOf(1_868_117_770).map((text) => text.length));
  expect(longest).toBeLessThan(50_000);
});
