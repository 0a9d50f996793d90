import type { ChangeFilters } from "../schemas/index.ts";
import type { Change } from "./change.ts";

/** Whether a change is one that was asked for. */
export function isWanted(
  { servers, kinds, classifications }: ChangeFilters,
  { server, kind, classification }: Pick<Change, "server" | "kind" | "classification">,
): boolean {
  if (servers !== undefined && !servers.includes(server)) return false;
  if (kinds !== undefined && !kinds.includes(kind)) return false;
  if (classifications === undefined || classifications.includes(classification)) return true;
  // A removal counts as breaking wherever changes are counted, so whoever asks for those gets it.
  return classification === "removed" && classifications.includes("breaking");
}
