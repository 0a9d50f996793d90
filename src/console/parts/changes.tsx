import type { ChangeCounts } from "../../manifest/diff.ts";
import { ClassChip } from "./change-class.tsx";
import { number } from "./figures.tsx";

/** How many changes of each class; removals are counted among the breaking ones, so they are named beside. */
export function Counts({ of }: { of: ChangeCounts }) {
  const { breaking, removed } = of;
  const counts = { ...of, breaking: breaking - removed };
  const there = (["breaking", "removed", "additive", "cosmetic"] as const).filter((name) => counts[name] > 0);
  if (there.length === 0) return <span class="small mute">no item changed</span>;
  return (
    <span class="chips">
      {there.map((name) => (
        <ClassChip of={name} count={counts[name]} />
      ))}
    </span>
  );
}

export function changeWords({ breaking, removed, additive, cosmetic }: ChangeCounts): string {
  const counts = { breaking: breaking - removed, removed, additive, cosmetic };
  const words = Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${number(count)} ${name}`] : []));
  return words.length === 0 ? "no item changed" : words.join(", ");
}
