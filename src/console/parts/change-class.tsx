import type { ChangeClass } from "../../manifest/classify/reasons.ts";
import { number } from "./figures.tsx";

/** Colour never stands alone: each class has its word and its glyph. */
export const classGlyphs: Record<ChangeClass, string> = {
  breaking: "▲",
  removed: "–",
  additive: "+",
  cosmetic: "~",
  advisory: "!",
};

export const changeClasses = Object.keys(classGlyphs) as [ChangeClass, ...ChangeClass[]];

export function ClassChip({ of, count }: { of: ChangeClass; count?: number }) {
  return (
    <span class={`chip ${of}`}>
      {classGlyphs[of]} {count === undefined ? "" : `${number(count)} `}
      {of}
    </span>
  );
}
