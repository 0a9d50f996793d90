import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";
import type { CapabilityCard } from "./contract.ts";

/** Enough to choose by; the item itself has the full description. */
const descriptionCharacters = 400;

/** Version, title and description that a card shows of a declared item. */
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
