import { expect, it } from "vitest";
import { boundedInputs } from "../../../scripts/patterns/bounded-inputs.ts";
import { collectPatterns } from "../../../scripts/patterns/collect.ts";

it("regular expressions are found where they are written and where modules put them together", async () => {
  const patterns = await collectPatterns();
  const of = (file: string) => patterns.filter((pattern) => pattern.file === file).map(({ source }) => source);
  expect(of("kernel/network.ts")).toContain(String.raw`^::ffff:(\d+\.\d+\.\d+\.\d+)$`);
  expect(of("search/query.ts").some((source) => source.startsWith("^(?:and then|then|"))).toBe(true);
  for (const { file, source } of boundedInputs)
    expect([file, of(file)]).toEqual([file, expect.arrayContaining([source])]);
});
