import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";
import type { CapabilityCard } from "./contract.ts";

/** Enough to choose by; whoever wants the rest reads the item. */
const descriptionCharacters = 400;

/** What a card shows of an item's own words. */
export function cardWords(
  declared: Record<string, unknown>,
): Pick<CapabilityCard, "version" | "title" | "description"> {
  const { version, description, annotations } = declared;
  const title = declared.title ?? (isObject(annotations) ? annotations.title : undefined);
  return {
    version: typeof version === "string" ? version : undefined,
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? clip(description, descriptionCharacters) : undefined,
  };
}
