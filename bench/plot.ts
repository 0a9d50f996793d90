/** What a case costs at each size, as a drawing that needs nothing but a browser. */
export interface Plot {
  title: string;
  /** The drawing in a sentence, for who cannot see it. */
  description: string;
  /** What the sizes count, below the axis. */
  axis: string;
  /** From the smallest, each larger than the one before. */
  sizes: readonly number[];
  lines: readonly Line[];
}

export interface Line {
  name: string;
  /** Cost at each size; the first is what the others are shown relative to. */
  values: readonly number[];
}

const width = 860;
const left = 56;
const right = 560;
const top = 56;
const lineHeight = 17;
const fewestLines = 14;

/** An SVG that is legible on light and dark ground: cost relative to that at the smallest size, sizes on a log axis. */
export function plotSvg({ title, description, axis, sizes, lines }: Plot): string {
  const bottom = top + lineHeight * Math.max(fewestLines, lines.length);
  const relative = lines.map(({ name, values }) => ({ name, points: values.map((value) => value / (values[0] || 1)) }));
  const ticks = ticksUpTo(Math.max(1.5, ...relative.flatMap(({ points }) => points)));
  const highest = ticks.at(-1) as number;
  const [smallest = 1, largest = 1] = [sizes[0], sizes.at(-1)];
  const x = (size: number) =>
    rounded(left + ((right - left) * Math.log(size / smallest)) / (Math.log(largest / smallest) || 1));
  const y = (cost: number) => rounded(bottom - ((bottom - top) * cost) / highest);
  const labels = spaced(
    relative.map(({ points }) => y(points.at(-1) ?? 1)),
    lineHeight,
    bottom,
  );
  const drawn = relative.map(({ name, points }, index) => {
    const path = points.map((cost, at) => `${at === 0 ? "M" : "L"}${x(sizes[at] ?? 1)} ${y(cost)}`).join("");
    const dots = points.map((cost, at) => `<circle cx="${x(sizes[at] ?? 1)}" cy="${y(cost)}" r="2.5"/>`).join("");
    const end = points.at(-1) ?? 1;
    const label = labels[index] as number;
    return `<g class="c${index % colours.length}"><path d="${path}"/>${dots}
<path class="lead" d="M${right + 4} ${y(end)}L${right + 16} ${label}"/>
<text x="${right + 20}" y="${label + 4}">${escaped(name)} ${end.toFixed(2)} ×</text></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 56}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<style>
svg { font: 13px system-ui, sans-serif; background: #fff }
text { fill: #222 } .axis { stroke: #bbb } .tick { fill: #555 } .head { font-weight: 600 }
path { fill: none; stroke-width: 1.8 } .lead { stroke-width: 0.7 }
${colours.map(([light], index) => styleOf(index, light)).join("\n")}
@media (prefers-color-scheme: dark) {
svg { background: #16181d } text { fill: #e8e8e8 } .axis { stroke: #4a4d55 } .tick { fill: #aaa }
${colours.map(([, dark], index) => styleOf(index, dark)).join("\n")}
}
</style>
<text class="head" x="${left}" y="24">${escaped(title)}</text>
<text class="tick" x="${left}" y="42">cost relative to ${grouped(smallest)}</text>
${ticks.map((tick) => `<path class="axis" d="M${left} ${y(tick)}H${right}"/><text class="tick" x="${left - 8}" y="${y(tick) + 4}" text-anchor="end">${tick} ×</text>`).join("\n")}
${sizes.map((size) => `<text class="tick" x="${x(size)}" y="${bottom + 20}" text-anchor="middle">${grouped(size)}</text>`).join("\n")}
<text class="tick" x="${(left + right) / 2}" y="${bottom + 42}" text-anchor="middle">${escaped(axis)}</text>
${drawn.join("\n")}
</svg>
`;
}

/** Told apart on either ground: for light, for dark. */
const colours = [
  ["#1f5fbf", "#7fb2ff"],
  ["#b3261e", "#ff8a80"],
  ["#1b7f3b", "#7ddc9a"],
  ["#8a4fbf", "#cfa5ff"],
  ["#b35c00", "#ffb45c"],
  ["#00727f", "#5fd3e0"],
  ["#a3246f", "#ff8fcb"],
  ["#5b6200", "#cfd45a"],
] as const;

function styleOf(index: number, colour: string): string {
  return `.c${index} path { stroke: ${colour} } .c${index} circle { fill: ${colour} } .c${index} text { fill: ${colour} }`;
}

/** A few round numbers from 0 to at least the highest cost. */
function ticksUpTo(highest: number): number[] {
  const step = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((wide) => highest / wide <= 8) ?? highest / 8;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => rounded(index * step));
}

/** Heights as near as possible to those wanted, in the same order, and never on top of each other. */
export function spaced(wanted: readonly number[], apart: number, lowest: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] as number) - (wanted[b] as number));
  const placed = [...wanted];
  let floor = Number.NEGATIVE_INFINITY;
  for (const index of order) {
    placed[index] = Math.max(placed[index] as number, floor);
    floor = (placed[index] as number) + apart;
  }
  let ceiling = lowest;
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index] as number, ceiling);
    ceiling = (placed[index] as number) - apart;
  }
  return placed;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function grouped(size: number): string {
  return size.toLocaleString("en");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
