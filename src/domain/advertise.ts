import type { Advertise } from "../schemas/index.ts";

export const indexVariants = ["summary", "full", "stats"] as const;
export type IndexVariant = (typeof indexVariants)[number];

/** Which variants of an index anyone may read. */
export type Advertised = Readonly<Record<IndexVariant, boolean>>;

export const nothingAdvertised: Advertised = { summary: false, full: false, stats: false };

/** Nothing until it is switched on; then the figures, and the rest only by name: a client may inject all it finds. */
export function advertisedBy(settings: Advertise | undefined): Advertised {
  const on = settings?.advertiseResources ?? settings?.advertise_resources ?? false;
  if (!on) return nothingAdvertised;
  const { summary = false, full = false, stats = true } = settings?.variants ?? {};
  return { summary, full, stats };
}
