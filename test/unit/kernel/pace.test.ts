import { describe, expect, it } from "vitest";
import { createPace, runAtOnce, type Steps, unitsPerPause } from "../../../src/kernel/pace/pace.ts";
import { parseStrictJson, strictJsonSteps } from "../../../src/kernel/strict-json.ts";
import { parseYaml, yamlSteps } from "../../../src/kernel/yaml.ts";

/** The work between two pauses of a computation, in units. */
async function slices<T>(steps: Steps<T>): Promise<{ value: T; done: number[] }> {
  const done = [0];
  function* counted(): Steps<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      done[done.length - 1] = (done.at(-1) ?? 0) + step.value;
      yield step.value;
    }
  }
  const value = await createPace({ pause: async () => done.push(0) }).run(counted());
  return { value, done };
}

function* work(...units: number[]): Steps<string> {
  for (const one of units) yield one;
  return "done";
}

describe("a pace", () => {
  it("pauses when enough was done, however it was divided", async () => {
    expect(await slices(work(4_000, 4_000, 4_000, 1, 12_000, 9_999))).toEqual({
      value: "done",
      done: [12_000, 12_001, 9_999],
    });
  });

  it("never pauses for a small document", async () => {
    expect((await slices(work(9_999))).done).toEqual([9_999]);
  });

  it("counts what is done outside of steps together with them", async () => {
    let pauses = 0;
    const pace = createPace({ pause: async () => (pauses += 1), unitsPerPause: 100 });
    await pace.spend(60);
    expect(pauses).toBe(0);
    await pace.run(work(40));
    expect(pauses).toBe(1);
    await pace.spend(99);
    expect(pauses).toBe(1);
  });

  it("is not needed: the same steps run at once", () => {
    expect(runAtOnce(work(1, 2))).toBe("done");
  });
});

describe("a reader in steps", () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  const limits = { maxDepth: 64, maxBytes: 1_000_000 };
  const items = Array.from({ length: 40_000 }, (_, index) => ({ name: `item ${index}`, list: [index, null, "é\n"] }));
  const documents: [string, unknown][] = [
    ["many items", { items, "a\\b": 1 }],
    ["many numbers", Array.from({ length: 300_000 }, (_, index) => index / 3)],
    ["one long text", { text: "x".repeat(2_000_000) }],
    ["nested items", { a: { b: { c: { d: items } } }, e: [[[items.slice(0, 10)]]], f: {} }],
  ];

  it.each(documents)("of JSON pauses often and reads the same: %s", async (_, document) => {
    const bytes = encode(JSON.stringify(document, null, 1));
    const { value, done } = await slices(strictJsonSteps(bytes, limits));
    expect(value).toEqual(parseStrictJson(bytes, limits));
    expect(done.length).toBeGreaterThan(1);
    // A string is one token and is not divided.
    expect(Math.max(...done)).toBeLessThan(unitsPerPause + 25_000);
  });

  it.each([
    ["an escaped key", '{"a\\u0062":1}'],
    ["__proto__", '{"__proto__":{"a":1}}'],
    ["a key twice", '{"a":1,"a":2}'],
    ["what is no JSON", '{"a":1'],
    ["text behind it", "[] []"],
  ])("of JSON finds the same in a long document: %s", async (_, text) => {
    const bytes = encode(`[${" ".repeat(100_000)}${text}]`);
    expect((await slices(strictJsonSteps(bytes, limits))).value).toEqual(parseStrictJson(bytes, limits));
  });

  it.each([
    ["a list of short lines", "- {a: 1, b: [x, y]}\n".repeat(6_000)],
    [
      "nested maps",
      Array.from({ length: 300 }, (_, a) => `a${a}:\n${lines(100, (b) => `  b${b}: &x${b} text\n`)}`).join(""),
    ],
    ["one long flow list", `[${"{a: 1, b: [x, y]}, ".repeat(6_000)}]`],
    ["many aliases", `- &a text\n${"- [*a, [b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]]\n".repeat(900)}`],
  ])("of YAML pauses often, while it composes too: %s", async (_, text) => {
    const bytes = encode(text);
    const { value, done } = await slices(yamlSteps(bytes, limits));
    expect(value.ok).toBe(true);
    expect(value).toEqual(parseYaml(bytes, limits));
    expect(done.length).toBeGreaterThan(text.length / 15_000);
    expect(Math.max(...done)).toBeLessThan(2 * unitsPerPause);
  });
});

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("");
}
