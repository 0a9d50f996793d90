import { requestError } from "../http/context.ts";
import type { ChosenSubset, Session } from "./contract.ts";
import { parsePositions } from "./follow-chosen.ts";

export function subsetOf({ subset }: Session): ChosenSubset {
  if (subset === undefined || subset.items.length === 0) throw requestError("ErrorNoSubset");
  return subset;
}

export function positionsOf(name: string, text: string | undefined): Record<string, number> {
  if (text === undefined || text === "") return {};
  const positions = parsePositions(text);
  if (positions === undefined)
    throw requestError("ErrorBadRequest", `\`${name}\` is not valid. Use \`position\` of an earlier answer`);
  return positions;
}
