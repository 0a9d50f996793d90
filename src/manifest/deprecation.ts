import { readJson } from "../kernel/read-json.ts";
import { clip } from "../kernel/text.ts";

/** As long as the message of a flag. */
const maxLength = 256;

/**
 * What an item that is deprecated says about that, empty if it says nothing; undefined if it is not deprecated. OpenAPI and
 * GraphQL have `deprecated`, generators `status`.
 */
export function deprecationOf(declared: Record<string, unknown>): string | undefined {
  const { deprecated, status } = declared;
  if (deprecated !== true && typeof deprecated !== "string" && status !== "deprecated") return undefined;
  const words = [declared.deprecationReason, declared.statusMessage, deprecated].find(
    (text) => typeof text === "string",
  );
  return clip((words as string | undefined) ?? "", maxLength);
}

/** The same of an item as it is stored. Most items are not parsed: both spellings have the word in them. */
export function deprecationOfText(text: string): string | undefined {
  return text.includes("deprecated") ? deprecationOf(readJson(text) as Record<string, unknown>) : undefined;
}
