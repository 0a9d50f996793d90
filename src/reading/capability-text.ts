import { stringify } from "yaml";
import { printRtfs, type RtfsCapability } from "../formats/rtfs/index.ts";

/** What a capability's document can be written as besides JSON. */
export type TextFormat = "yaml" | "rtfs";

export interface CapabilityText {
  text: string;
  /** What the notation has no words for: pointers from a list with this capability alone. */
  losses: string[];
}

export function capabilityText(format: TextFormat, document: Record<string, unknown>): CapabilityText {
  if (format === "yaml") return { text: stringify(document, { version: "1.2" }), losses: [] };
  return printRtfs([rtfsOf(document)]);
}

/** What RTFS has a place for: the registry's own additions are left out. */
function rtfsOf({ kind: _, registry: __, runtime: ___, ...document }: Record<string, unknown>): RtfsCapability {
  return document as unknown as RtfsCapability;
}
