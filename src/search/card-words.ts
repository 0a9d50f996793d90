import { isObject } from "../kernel/json.ts";
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
    description: typeof description === "string" ? clipped(description) : undefined,
  };
}

function clipped(text: string): string {
  if (text.length <= descriptionCharacters) return text;
  // A cut through a surrogate pair would leave half a character.
  return `${text.slice(0, descriptionCharacters).replace(/[\ud800-\udbff]$/, "")}…`;
}
