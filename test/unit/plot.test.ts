import { describe, expect, it } from "vitest";
import { type Plot, plotSvg, spaced } from "../../bench/plot.ts";

const plot: Plot = {
  title: "Cost & size",
  description: "What each case costs.",
  axis: "capabilities",
  sizes: [1_000, 10_000, 100_000],
  lines: [
    { name: "search <q>", values: [2, 4, 8] },
    { name: "page", values: [5, 5, 5] },
  ],
};

describe("a plot of cost against size", () => {
  it("says what it shows, to those who see it and those who do not", () => {
    const svg = plotSvg(plot);
    expect(svg).toContain('aria-labelledby="title desc"');
    expect(svg).toContain('<title id="title">Cost &amp; size</title>');
    expect(svg).toContain('<desc id="desc">What each case costs.</desc>');
    expect(svg).toContain("prefers-color-scheme: dark");
    for (const size of ["1,000", "10,000", "100,000"]) expect(svg).toContain(`>${size}</text>`);
  });

  it("names each line at its end, with what it grew to", () => {
    const svg = plotSvg(plot);
    expect(svg).toContain(">search &lt;q&gt; 4.00 ×</text>");
    expect(svg).toContain(">page 1.00 ×</text>");
  });

  it("puts each power of ten as far from the last, and the same cost at the same height", () => {
    const [search, page] = Array.from(plotSvg(plot).matchAll(/<g class="c\d"><path d="([^"]+)"/g), ([, path = ""]) =>
      path
        .split(/[ML]/)
        .slice(1)
        .map((point) => point.split(" ").map(Number)),
    );
    const [first, second, third] = search ?? [];
    expect((second?.[0] ?? 0) - (first?.[0] ?? 0)).toBeCloseTo((third?.[0] ?? 0) - (second?.[0] ?? 0), 1);
    expect(page?.map(([, height]) => height)).toEqual([first?.[1], first?.[1], first?.[1]]);
    expect(third?.[1] ?? 0).toBeLessThan(second?.[1] ?? 0);
  });

  it("is drawn of one size and of no cost, too", () => {
    const svg = plotSvg({ ...plot, sizes: [1], lines: [{ name: "idle", values: [0] }] });
    expect(svg).not.toMatch(/NaN|Infinity/);
  });
});

describe("labels", () => {
  it("stay where they are wanted, or next to it where another is", () => {
    expect(spaced([10, 50], 15, 100)).toEqual([10, 50]);
    expect(spaced([50, 10, 12], 15, 100)).toEqual([50, 10, 25]);
    expect(spaced([98, 99, 100], 15, 100)).toEqual([70, 85, 100]);
  });
});
