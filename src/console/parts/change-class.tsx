import type { ChangeClass } from "../../manifest/classify/reasons.ts";

/** Colour never stands alone: each class has its word and its glyph. */
export const classGlyphs: Record<ChangeClass, string> = {
  breaking: "▲",
  removed: "–",
  additive: "+",
  cosmetic: "~",
  advisory: "!",
};

export const changeClasses = Object.keys(classGlyphs) as [ChangeClass, ...ChangeClass[]];

export function ClassChip({ of }: { of: ChangeClass }) {
  return (
    <span class={`chip ${of}`}>
      {classGlyphs[of]} {of}
    </span>
  );
}
